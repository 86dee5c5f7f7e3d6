/**
 * The store in this process, for tests that need no database. Nothing of it outlives the process.
 *
 * 1. Transactions run one at a time, and a statement outside of them is a transaction of its own. So a
 *    lock is not needed, and a statement sees nothing that is not committed.
 * 2. A transaction must use its own statements only: one that waits for another waits forever.
 */
import type { Statements, Store } from '../store.ts';
import * as account from './account.ts';
import * as allResources from './allResources.ts';
import * as analytics from './analytics.ts';
import * as apiKeys from './apiKeys.ts';
import * as customers from './customers.ts';
import * as files from './files.ts';
import * as lists from './lists.ts';
import * as paymentLinks from './paymentLinks.ts';
import * as resources from './resources.ts';
import { createJournal } from './table.ts';
import { createTables, type Tables } from './tables.ts';
import * as webhooks from './webhooks.ts';

type Unbound = {
  readonly [Name in keyof Statements]: (
    tables: Tables,
    ...parameters: Parameters<Statements[Name]>
  ) => Awaited<ReturnType<Statements[Name]>>;
};

const STATEMENTS: Unbound = {
  ...account,
  ...allResources,
  ...analytics,
  ...apiKeys,
  ...customers,
  ...files,
  ...lists,
  ...paymentLinks,
  ...resources,
  ...webhooks,
};

type Names = keyof Statements;

export function createMemoryStore(): Store {
  const journal = createJournal();
  const tables = createTables(journal);
  let last: Promise<unknown> = Promise.resolve();

  const transaction = <T>(work: (tx: Statements) => Promise<T>): Promise<T> => {
    const run = async (): Promise<T> => {
      journal.begin();
      try {
        return await work(inTransaction);
      } catch (error) {
        journal.rollBack();
        throw error;
      }
    };
    const turn = last.then(run);
    last = turn.catch(() => undefined);
    return turn;
  };
  const inTransaction = bind((statement, parameters) =>
    Promise.resolve().then(() => statement(tables, ...parameters)),
  );
  const alone = bind((statement, parameters) =>
    transaction(() => Promise.resolve(statement(tables, ...parameters))),
  );
  return { ...alone, transaction };
}

type AnyStatement = (tables: Tables, ...parameters: readonly unknown[]) => unknown;

/** The compiler has checked each statement; it cannot follow the loop. */
function bind(
  run: (statement: AnyStatement, parameters: readonly unknown[]) => Promise<unknown>,
): Statements {
  const bound = Object.entries(STATEMENTS).map(([name, statement]) => [
    name,
    (...parameters: readonly unknown[]) => run(statement as AnyStatement, parameters),
  ]);
  return Object.fromEntries(bound) as Record<Names, unknown> as Statements;
}
