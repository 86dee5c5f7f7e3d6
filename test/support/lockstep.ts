/** A database that sends each statement to PostgreSQL and to the simulator's model, and compares what they return. */
import { MODELS } from '../../scripts/simulator/database/models/index.ts';
import { committedRows, type Table } from '../../scripts/simulator/database/rows.ts';
import { Server } from '../../scripts/simulator/database/server.ts';
import { createLookup } from '../../scripts/simulator/database/statements.ts';
import { createTables } from '../../scripts/simulator/database/tables.ts';
import { type Actor, createScheduler } from '../../scripts/simulator/scheduler.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';

export interface Lockstep {
  readonly db: Database;
  /** Names of the statements that were sent. */
  readonly used: ReadonlySet<string>;
  readonly differences: readonly string[];
  /** Tables that are not equal, with both contents. */
  differentTables(): Promise<readonly string[]>;
}

export function createLockstep(postgres: Database): Lockstep {
  const scheduler = createScheduler(Date.now());
  const tables = createTables();
  const modelOf = createLookup(MODELS);
  const server = new Server({
    scheduler,
    tables,
    modelOf,
    random: () => 0.5,
    delayMs: () => 0,
    trace: () => undefined,
  });
  const actor: Actor = {
    name: 'test',
    random: () => 0.5,
    isAlive: true,
    closing: new AbortController(),
  };
  const model = server.open(actor, 8);
  const used = new Set<string>();
  const differences: string[] = [];
  let turns = Promise.resolve();

  /** Runs the model's steps up to now. */
  const settle = <T>(result: Promise<T>): Promise<T> => {
    turns = turns.then(() => scheduler.run(Date.now()));
    return result;
  };
  const compare = async <Row extends object>(
    text: string,
    real: Promise<Row[]>,
    modeled: Promise<Row[]>,
  ): Promise<Row[]> => {
    const { name } = modelOf(text);
    used.add(name);
    const [a, b] = await Promise.all([outcomeOf(real), outcomeOf(settle(modeled))]);
    if (a !== b) differences.push(`${name}: PostgreSQL returned ${a}, the model ${b}`);
    return await real;
  };
  const query = <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> =>
    compare(text, postgres.query<Row>(text, values), model.query<Row>(text, values));
  /** Both transactions are open while `work` runs, and end as it does. */
  const transaction = async <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    await postgres.transaction(async (real) => {
      const begun = createDeferred<Queryable>();
      const ended = createDeferred<void>();
      const done = model.transaction((tx) => {
        begun.resolve(tx);
        return ended.promise;
      });
      const tx = await settle(begun.promise);
      const both: Queryable = {
        query: (text, values) => compare(text, real.query(text, values), tx.query(text, values)),
      };
      try {
        const result = await work(both);
        ended.resolve();
        await settle(done);
        return result;
      } catch (error) {
        ended.reject(error);
        await settle(done).catch(() => undefined);
        throw error;
      }
    });
  return {
    db: { ...postgres, query, prepared: query, transaction },
    used,
    differences,
    differentTables: async () => {
      const different: string[] = [];
      for (const table of Object.values(tables) as unknown as readonly Table<object>[]) {
        const difference = await differenceOf(postgres, table);
        if (difference !== undefined) different.push(difference);
      }
      return different;
    },
  };
}

function createDeferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((onResult, onError) => {
    [resolve, reject] = [onResult, onError];
  });
  return {
    promise,
    resolve: (value: T) => resolve(value),
    reject: (error: unknown) => reject(error),
  };
}

/** What differs because the clocks do, or is the server's own. */
const OWN =
  /^(ageMs|excessForMs|behindForMs|timeline|laterEpochs|body_day|next_dispatch_at|pg_logical_emit_message|set_config)$/;

async function outcomeOf(result: Promise<readonly object[]>): Promise<string> {
  try {
    return linesOf(await result).join('\n');
  } catch (error) {
    return `error ${(error as { code?: string }).code}`;
  }
}

/** Rows in an order of their own: most statements state none. */
function linesOf(rows: readonly object[]): readonly string[] {
  return rows.map((row) => JSON.stringify(comparable(row))).sort();
}

function comparable(value: unknown): unknown {
  if (value instanceof Date) return 'a time';
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([name]) => !OWN.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, one]) => [name, comparable(one)]));
}

/** Columns of the model that PostgreSQL has in another form. */
const COLUMNS: Readonly<Record<string, string>> = {
  body_sha256: `encode(body_sha256, 'hex') as body_sha256`,
  content_hash: `encode(content_hash, 'hex') as content_hash`,
  head_hash: `encode(head_hash, 'hex') as head_hash`,
  effective_micros: '(extract(epoch from effective_at) * 1000000)::bigint as effective_micros',
  day: 'day::text as day',
};
const TIMES = /(_at|_since|^enqueue_at|^body_day)$/;

async function differenceOf(db: Database, table: Table<object>): Promise<string | undefined> {
  const modeled = committedRows(table);
  const [first] = modeled;
  if (!first) {
    const some = await db.query(`select from ${table.name} limit 1`);
    return some.length === 0 ? undefined : `${table.name}: only PostgreSQL has rows`;
  }
  const columns = Object.keys(first).filter((name) => !TIMES.test(name));
  const real = await db.query(
    `select ${columns.map((name) => COLUMNS[name] ?? name).join(', ')} from ${table.name}`,
  );
  const own = modeled.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !TIMES.test(name))),
  );
  const [a, b] = [linesOf(real), linesOf(own)];
  const missing = a.filter((line) => !b.includes(line));
  const added = b.filter((line) => !a.includes(line));
  if (missing.length + added.length === 0 && a.length === b.length) return undefined;
  return `${table.name}: only in PostgreSQL ${missing.join('\n')}, only in the model ${added.join('\n')}`;
}
