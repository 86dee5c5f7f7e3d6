/**
 * The model of the PostgreSQL server: transactions, connections, and what goes wrong with them.
 *
 * 1. A statement is sent, executed and its reply received at three instants. Statements of one connection are
 *    executed in the order in which they were sent, also if the program waits for none of them.
 * 2. Each statement has one model, found by its text. A text without a model is an error that names it.
 * 3. The server rolls a transaction back some time after its connection was lost. A statement that was sent
 *    before may still be executed, a commit included, and its reply is lost.
 * 4. After a failed statement, a transaction refuses every other one.
 */
import type { Database } from '../../../src/platform/db/database.ts';
import { SQLSTATES } from '../../../src/platform/db/sqlStates.ts';
import { integer, type Random } from '../random.ts';
import type { Actor, Scheduler } from '../scheduler.ts';
import { ModelExecution, type Traits } from './execution.ts';
import { createLocks } from './locks.ts';
import { createPool } from './pool.ts';
import {
  type Cell,
  createTable,
  type Execution,
  SqlError,
  type Transaction,
  type Waiting,
} from './rows.ts';
import { BEGIN, COMMIT, type Connection, type Result, ROLLBACK, type Sent } from './wire.ts';

/** Runs a statement. A row that it returns is never changed afterwards. */
export type Model<Tables> = (
  x: Execution,
  tables: Tables,
  values: readonly unknown[],
) => Result | Waiting<Result>;

interface Modeled<Tables> {
  readonly name: string;
  readonly traits: Traits;
  readonly run: Model<Tables>;
}

export interface ServerParts<Tables> {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly tables: Tables;
  /** @throws Error for a statement without a model */
  readonly modelOf: (text: string) => Modeled<Tables>;
  /** Milliseconds between two of the instants of a statement. */
  readonly delayMs: () => number;
  readonly trace: (line: () => string) => void;
}

interface Running<Tables> {
  readonly connection: Connection;
  readonly statement: Sent;
  readonly tx: Transaction;
  readonly isAlone: boolean;
  readonly model: Modeled<Tables>;
}

export class Server<Tables = unknown> {
  readonly #parts: ServerParts<Tables>;
  readonly #locks = createLocks();
  readonly #advisory = createTable<string>('advisory locks', (name) => name);
  readonly #connections = new Set<Connection>();
  #commits = 0;
  #transactions = 0;
  #statements = 0;
  /** Statements that wait: older versions are kept only while one may read them. */
  #suspended = 0;
  #downUntilMs = 0;

  constructor(parts: ServerParts<Tables>) {
    this.#parts = parts;
  }

  /** A pool of an actor. */
  open(actor: Actor, maxConnections: number): Database {
    return createPool(this, actor, maxConnections);
  }

  /** Closes the connections of an actor that was killed. */
  forget(actor: Actor): void {
    this.#loseAll((one) => one.actor === actor, 40);
  }

  /** Ends the connections of one actor, which lives on. */
  cut(actor: Actor): void {
    this.#loseAll((one) => one.actor === actor, 2_000);
  }

  /** Ends every connection, and refuses new ones for a time. */
  restart(downMs: number): void {
    this.#downUntilMs = this.#parts.scheduler.nowMs() + downMs;
    this.#loseAll(() => true, 0);
  }

  deadlocks(): number {
    return this.#locks.deadlocks();
  }

  statements(): number {
    return this.#statements;
  }

  async connect(actor: Actor): Promise<Connection> {
    const { scheduler, delayMs } = this.#parts;
    await new Promise<void>((resolve, reject) => {
      scheduler.inActor(actor, delayMs(), () => {
        if (scheduler.nowMs() >= this.#downUntilMs) resolve();
        else reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      });
    });
    const connection: Connection = {
      actor,
      sent: [],
      isBusy: false,
      tx: undefined,
      running: undefined,
      isGone: false,
      lost: undefined,
      lastReplyMs: 0,
    };
    this.#connections.add(connection);
    return connection;
  }

  send<Row extends object>(
    connection: Connection,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (connection.lost) {
        reject(connection.lost);
        return;
      }
      const report = resolve as unknown as Sent['resolve'];
      connection.sent.push({ text, values, resolve: report, reject });
      this.#executeNext(connection);
    });
  }

  #executeNext(connection: Connection): void {
    const [next] = connection.sent;
    if (next === undefined || connection.isBusy) return;
    connection.isBusy = true;
    this.#parts.scheduler.inModel(this.#parts.delayMs(), () => this.#perform(connection, next));
  }

  #perform(connection: Connection, statement: Sent): void {
    this.#statements += 1;
    if (connection.isGone) return;
    const { tx } = connection;
    switch (statement.text) {
      case BEGIN:
        connection.tx = this.#begin(connection);
        break;
      case COMMIT:
      case ROLLBACK:
        if (tx) this.#end(tx, statement.text === COMMIT && tx.state === 'open');
        connection.tx = undefined;
        break;
      default:
        this.#execute(connection, statement);
        return;
    }
    this.#finish(connection, statement, []);
  }

  #execute(connection: Connection, statement: Sent): void {
    if (connection.tx?.state === 'failed') {
      const error = new SqlError(
        SQLSTATES.in_failed_sql_transaction,
        'current transaction is aborted',
      );
      this.#finish(connection, statement, error);
      return;
    }
    const tx = connection.tx ?? this.#begin(connection);
    const isAlone = connection.tx === undefined;
    connection.running = isAlone ? tx : undefined;
    const model = this.#parts.modelOf(statement.text);
    const running = { connection, statement, tx, isAlone, model };
    const execution = new ModelExecution({
      tx,
      locks: this.#locks,
      snapshot: this.#commits,
      advisory: this.#advisory,
      statementMs: this.#parts.scheduler.nowMs(),
      traits: model.traits,
    });
    this.#attempt(running, () => {
      const result = model.run(execution, this.#parts.tables, statement.values);
      if ('next' in result) this.#advance(running, result);
      else this.#succeed(running, result);
    });
  }

  /** Runs a statement up to its end or its next wait. */
  #advance(running: Running<Tables>, steps: Waiting<Result>): void {
    const { tx, model } = running;
    const { done, value } = steps.next();
    if (done) {
      this.#succeed(running, value);
      return;
    }
    const { cell } = value;
    this.#parts.trace(() => `${tx.name} ${model.name} waits for ${cell.table.name} ${cell.key}`);
    const end = (): void => {
      tx.abandon = undefined;
      this.#suspended -= 1;
    };
    this.#locks.wait(value, tx, () => {
      end();
      this.#parts.scheduler.inModel(0, () => {
        if (tx.state !== 'ended') this.#attempt(running, () => this.#advance(running, steps));
      });
    });
    this.#suspended += 1;
    tx.abandon = end;
  }

  #attempt(running: Running<Tables>, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      this.#fail(running, error);
    }
  }

  #succeed({ connection, statement, tx, isAlone, model }: Running<Tables>, rows: Result): void {
    this.#parts.trace(() => `${tx.name} ${model.name}`);
    if (isAlone) this.#end(tx, true);
    this.#finish(connection, statement, rows);
  }

  #fail({ connection, statement, tx, isAlone, model }: Running<Tables>, error: SqlError): void {
    this.#parts.trace(() => `${tx.name} ${model.name} fails: ${error.message}`);
    if (isAlone) this.#end(tx, false);
    else tx.state = 'failed';
    this.#finish(connection, statement, error);
  }

  #finish(connection: Connection, statement: Sent, outcome: Result | Error): void {
    connection.isBusy = false;
    connection.running = undefined;
    connection.sent.shift();
    if (connection.lost) return;
    this.#reply(connection, () => {
      if (connection.lost) statement.reject(connection.lost);
      else if (outcome instanceof Error) statement.reject(outcome);
      else statement.resolve(outcome);
    });
    this.#executeNext(connection);
  }

  #reply(connection: Connection, run: () => void): void {
    const { scheduler, delayMs } = this.#parts;
    const nowMs = scheduler.nowMs();
    connection.lastReplyMs = Math.max(connection.lastReplyMs, nowMs + delayMs());
    scheduler.inActor(connection.actor, connection.lastReplyMs - nowMs, run);
  }

  #begin({ actor }: Connection): Transaction {
    this.#transactions += 1;
    const serial = this.#transactions;
    return {
      name: `${actor.name} #${serial}`,
      serial,
      startMs: this.#parts.scheduler.nowMs(),
      written: new Set<Cell>(),
      locked: new Set<Cell>(),
      waitsFor: undefined,
      state: 'open',
    };
  }

  #end(tx: Transaction, isCommitted: boolean): void {
    if (tx.state === 'ended') return;
    tx.state = 'ended';
    if (tx.written.size > 0) {
      this.#parts.trace(() => `${tx.name} ${isCommitted ? 'commits' : 'rolls back'}`);
      if (isCommitted) this.#commits += 1;
    }
    for (const cell of tx.written) {
      const version = { commit: this.#commits, row: cell.draft };
      const older = this.#suspended > 0 ? cell.versions : [];
      if (isCommitted) cell.versions = [...older, version];
      cell.writer = undefined;
      cell.draft = undefined;
    }
    tx.abandon?.();
    this.#locks.release(tx);
    for (const cell of tx.written) this.#dropIfEmpty(cell);
  }

  #dropIfEmpty(cell: Cell): void {
    const isUsed = cell.holders.size > 0 || cell.waiting.length > 0 || this.#suspended > 0;
    if (isUsed || cell.versions.some(({ row }) => row !== undefined)) return;
    cell.table.cells.delete(cell.key);
  }

  /** @param noticedMs how long the server takes to notice, at most */
  #loseAll(which: (connection: Connection) => boolean, noticedMs: number): void {
    const { scheduler, random } = this.#parts;
    const error = new Error('Connection terminated unexpectedly');
    for (const connection of [...this.#connections].filter(which)) {
      connection.lost = error;
      this.#connections.delete(connection);
      for (const one of connection.sent) this.#reply(connection, () => one.reject(error));
      scheduler.inModel(integer(random, 0, noticedMs), () => {
        connection.isGone = true;
        if (connection.tx) this.#end(connection.tx, false);
        if (connection.running) this.#end(connection.running, false);
      });
    }
  }
}
