/** Fills the ledger with copies of the template, as they would have arrived. */
import { z } from 'zod';
import { RETENTION_SETTINGS, retentionOf } from '../../src/config/retentionSettings.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import type { Cleanup } from '../cleanup.ts';
import { makeDatabase, onFastServer, withDatabase } from '../fastServer.ts';
import {
  createCopier,
  FILLED_TABLES,
  hasTemplate,
  moveTemplateAside,
  type RetainedDays,
} from './copies.ts';
import { rebuildIndexes, suspendIndexes } from './indexes.ts';
import { settle } from './settle.ts';
import { applyTemplate } from './template.ts';

export const DATABASE = 'bench_growth';

const retention = retentionOf(z.object(RETENTION_SETTINGS).parse({}));
/** For how many days default retention keeps the rows of a table that are done with. */
const RETAINED_DAYS: RetainedDays = {
  messages: retention.messages,
  changes: retention.changes,
  packed_bodies: retention.bodies,
};

export interface Plan {
  readonly dataDir: string;
  readonly bodyBytes: number;
  readonly eventsPerDay: number;
  /** Events after the last fill; decides how old the first of all is. */
  readonly finalEvents: number;
  /** Without what default retention has removed of rows so old. */
  readonly isRetained: boolean;
}

/**
 * Fills the ledger up to a number of events; goes on with one that was filled before.
 * @returns how many it holds
 */
export function fill(plan: Plan, events: number, cleanup: Cleanup): Promise<number> {
  return onFastServer(plan.dataDir, cleanup, async (server) => {
    const url = await makeDatabase(server, DATABASE);
    if (!(await withoutTriggers(url, hasTemplate))) {
      const run = await applyTemplate(url, plan.bodyBytes);
      await withoutTriggers(url, (db) => moveTemplateAside(db, run));
    }
    const filled = await withoutTriggers(url, (db) => copyUpTo(db, plan, events));
    await withDatabase(url, settle);
    return filled;
  });
}

async function copyUpTo(db: Database, plan: Plan, events: number): Promise<number> {
  const copier = await createCopier(db, plan.isRetained ? RETAINED_DAYS : {});
  const { eventsPerCopy } = copier;
  if (copier.copies * eventsPerCopy < events) await suspendIndexes(db, FILLED_TABLES);
  while (copier.copies * eventsPerCopy < events) {
    const eventsAfter = plan.finalEvents - copier.copies * eventsPerCopy;
    await copier.copyNext(Math.max(0, eventsAfter) / plan.eventsPerDay);
    if (process.stderr.isTTY) process.stderr.write(`\r  copy ${copier.copies} `);
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  // An earlier fill of the same folder may have been interrupted before this.
  if ((await rebuildIndexes(db, FILLED_TABLES)) > 0) {
    await continueSequences(db);
    // As autovacuum would have, some time after so many rows came in.
    await db.query('vacuum analyze');
  }
  return copier.copies * eventsPerCopy;
}

async function continueSequences(db: Queryable): Promise<void> {
  await db.query(
    `select setval(pg_get_serial_sequence('webhook_events', 'id'), (select max(id) from webhook_events)),
            setval(pg_get_serial_sequence('transfers', 'id'), (select max(id) from transfers)),
            setval(pg_get_serial_sequence('messages', 'number'), (select max(number) from messages))`,
  );
  await db.query(
    'update order_webhook_position set change_number = (select max(number) from changes)',
  );
}

/** Rows of the template have passed the checks that triggers make. */
function withoutTriggers<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabase(url, async (db) => {
    await db.query('set session_replication_role = replica');
    return await work(db);
  });
}
