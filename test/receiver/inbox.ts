/** Queries of the receiver's tests: what was stored of a body, and what was derived from it. */
import type { Queryable } from '../../src/platform/db/database.ts';
import { INBOX_WITH_BODIES } from '../support/inboxBodies.ts';
import { waitFor } from '../support/waitFor.ts';

export interface InboxRow {
  readonly id: number;
  readonly eventId: string | null;
  readonly merchantId: string | null;
  readonly eventType: string | null;
  readonly body: Buffer;
}

const ROW = `select id, event_id as "eventId", merchant_id as "merchantId",
                    event_type as "eventType", body
               from ${INBOX_WITH_BODIES} inbox`;

/** Inbox rows with exactly these bytes as body. */
export function rowsWithBody(db: Queryable, body: Buffer): Promise<InboxRow[]> {
  return db.query<InboxRow>(`${ROW} where body = $1 order by id`, [body]);
}

export function rowsWithEventId(db: Queryable, eventId: string): Promise<InboxRow[]> {
  return db.query<InboxRow>(`${ROW} where event_id = $1`, [eventId]);
}

/** The only inbox row with exactly these bytes as body. @throws if there is none or several */
export async function storedRow(db: Queryable, body: Buffer): Promise<InboxRow> {
  const [row, ...more] = await rowsWithBody(db, body);
  if (!row || more.length > 0) {
    throw new Error(`expected one inbox row with this body, found ${row ? 1 + more.length : 0}`);
  }
  return row;
}

/** Other bodies received with the event id of an inbox row, oldest first. */
export async function variantsOf(db: Queryable, { id }: InboxRow): Promise<Buffer[]> {
  const rows = await db.query<{ body: Buffer }>(
    'select body from event_variants where webhook_event_id = $1 order by received_at',
    [id],
  );
  return rows.map(({ body }) => body);
}

/** Number of rows of the inbox and of its variants with this body. */
export async function countStored(db: Queryable, body: Buffer): Promise<number> {
  const [counts] = await db.query<{ stored: number }>(
    `select (select count(*) from ${INBOX_WITH_BODIES} inbox where body = $1)
            + (select count(*) from event_variants where body = $1) as stored`,
    [body],
  );
  return counts?.stored ?? 0;
}

/** Number of rows of the inbox and of its variants. */
export async function countStoredBodies(db: Queryable): Promise<number> {
  const [counts] = await db.query<{ all: number }>(
    'select (select count(*) from webhook_events) + (select count(*) from event_variants) as all',
  );
  return counts?.all ?? 0;
}

/** Waits until the worker has applied an inbox row. */
export function untilApplied(db: Queryable, { id }: InboxRow): Promise<void> {
  return waitFor(`event ${id} to be applied`, async () => {
    const rows = await db.query('select from pending where webhook_event_id = $1', [id]);
    return rows.length === 0;
  });
}

/** Waits until the worker has applied every inbox row. */
export function untilAllApplied(db: Queryable): Promise<void> {
  return waitFor('every event to be applied', async () => {
    const rows = await db.query('select from pending limit 1');
    return rows.length === 0;
  });
}

/** Classes of the open findings about an inbox row. */
export async function findingsAbout(db: Queryable, { id }: InboxRow): Promise<string[]> {
  const rows = await db.query<{ class: string }>(
    `select class from findings where subject = $1 and state = 'open' order by class`,
    [`event:${id}`],
  );
  return rows.map((row) => row.class);
}

export interface ResourceState {
  readonly status: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly capturedMinor: number;
  readonly orderKey: string | null;
  readonly isDue: boolean;
  readonly findings: readonly string[];
}

/** The merged state of a resource; undefined if the ledger does not have it. */
export async function resourceState(
  db: Queryable,
  kind: string,
  id: string,
): Promise<ResourceState | undefined> {
  const rows = await db.query<ResourceState>(
    `select status, currency, amount_minor as "amountMinor", captured_minor as "capturedMinor",
            order_key as "orderKey", is_check_wanted as "isDue",
            open_findings as findings
       from resources where kind = $1 and id = $2`,
    [kind, id],
  );
  return rows[0];
}

/** Number of distinct contents of a resource that were applied. */
export async function countSnapshots(db: Queryable, id: string): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'select count(*) as count from snapshots where resource_id = $1',
    [id],
  );
  return rows[0]?.count ?? 0;
}

/** The errors of dead events. */
export async function deadErrors(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ error: string }>(
    'select error from dead_events order by webhook_event_id limit 100',
  );
  return rows.map(({ error }) => error);
}
