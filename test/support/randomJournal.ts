/** A journal of random transfers that continue their legs, as workers would post them in any order. */
import { RESOURCE_KINDS } from '../../src/contract/resources/index.ts';
import { LEGS } from '../../src/ledger/domain/legs.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { Random } from './random.ts';

/** Lines of settlement files are no resources. */
const RESOURCE_LEGS = RESOURCE_KINDS.flatMap((kind) =>
  Object.entries(LEGS[kind]).map(([leg, accounts]) => ({ kind, leg, ...accounts })),
);

interface End {
  readonly seq: number;
  readonly minor: number;
  /** Effective times of its transfers, in which a later one corrects it. */
  readonly times: readonly number[];
}

interface JournalOptions {
  readonly random: Random;
  readonly effectiveMs: () => number;
  /** Of the resources, so that several journals can be posted at once. */
  readonly prefix?: string;
}

/** @returns what makes the next transfer, recorded at a time */
export function createRandomJournal({ random, effectiveMs, prefix = '' }: JournalOptions) {
  const ends = new Map<string, End>();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  return (recordedMs: number) => {
    const { kind, leg, debit, credit } = pick(RESOURCE_LEGS);
    const id = `${prefix}${kind}_${Math.floor(random() * 3)}`;
    const currency = pick(['USD', 'EUR']);
    const key = `${kind} ${id} ${leg} ${currency}`;
    const end = ends.get(key) ?? { seq: 0, minor: 0, times: [] };
    const isBack = end.minor > 0 && random() < 0.5;
    const amount = isBack
      ? random() < 0.5
        ? end.minor
        : 1 + Math.floor(random() * end.minor)
      : pick([100, 200, 100]);
    const next = isBack ? end.minor - amount : end.minor + amount;
    const at = end.times.length > 0 && random() < 0.4 ? pick(end.times) : effectiveMs();
    ends.set(key, { seq: end.seq + 1, minor: next, times: [...end.times, at] });
    const [from, to] = isBack ? [credit, debit] : [debit, credit];
    return {
      kind,
      id,
      leg,
      currency,
      seq: end.seq + 1,
      debit: from,
      credit: to,
      amount,
      previous: end.minor,
      cumulative: next,
      recorded: new Date(recordedMs).toISOString(),
      effective: new Date(at).toISOString(),
    };
  };
}

export type RandomTransfer = ReturnType<ReturnType<typeof createRandomJournal>>;

/** Inserts transfers one after the other, and the resources that they are of. */
export async function insertRandom(db: Queryable, rows: readonly RandomTransfer[]): Promise<void> {
  await db.query(
    `insert into resources (kind, id, order_key)
     select distinct kind, id, 'order:x' from jsonb_to_recordset($1::jsonb) as u (kind text, id text)
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
  for (const row of rows) {
    await db.query(
      `insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor,
                              previous_minor, cumulative_minor, head_hash, recorded_at, effective_at,
                              effective_source)
       select kind, id, leg, currency, seq, debit, credit, amount, previous, cumulative, sha256('x'),
              recorded, effective, 'v'
         from jsonb_to_record($1::jsonb)
              as u (kind text, id text, leg text, currency text, seq int, debit text, credit text,
                    amount bigint, previous bigint, cumulative bigint, recorded timestamptz,
                    effective timestamptz)`,
      [JSON.stringify(row)],
    );
  }
}
