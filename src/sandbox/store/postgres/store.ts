/** The store in PostgreSQL: each statement of the interface, with the database or transaction that runs it. */
import type { Database, Queryable } from '../../../platform/db/database.ts';
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
import * as webhooks from './webhooks.ts';

type Unbound = {
  readonly [Name in keyof Statements]: (
    db: Queryable,
    ...parameters: Parameters<Statements[Name]>
  ) => ReturnType<Statements[Name]>;
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

export function createPostgresStore(db: Database): Store {
  return { ...bind(db), transaction: (work) => db.transaction((tx) => work(bind(tx))) };
}

/** The compiler has checked each statement; it cannot follow the loop. */
function bind(db: Queryable): Statements {
  const bound = Object.entries(STATEMENTS).map(([name, statement]) => [
    name,
    (...parameters: readonly unknown[]) =>
      (statement as (...all: readonly unknown[]) => unknown)(db, ...parameters),
  ]);
  return Object.fromEntries(bound) as Statements;
}
