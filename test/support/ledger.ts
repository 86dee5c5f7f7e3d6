/** The ledger over a test database, fed without HTTP or queue. */
import { createHash } from 'node:crypto';
import { createEventApplier, type EventApplier } from '../../src/ledger/inbox/applyEvents.ts';
import { createLedgerMetrics } from '../../src/ledger/metrics.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { secretFingerprint } from '../../src/platform/secretFingerprint.ts';
import { readEnvelope } from '../../src/receiver/envelope.ts';
import { storeBatch } from '../../src/receiver/storeBatch.ts';
import { silentLog } from './database.ts';
import { MERCHANT_ID, SECRET } from './events.ts';

const FINGERPRINT = secretFingerprint(SECRET);

export function testApplier(
  db: Database,
  merchantId = MERCHANT_ID,
  clock: Clock = systemClock,
  profileId?: string,
): EventApplier {
  return createEventApplier({
    db,
    account: { merchantId, profileId },
    clock,
    metrics: createLedgerMetrics(createMetrics()),
    log: silentLog,
  });
}

/** Stores bodies in the inbox as the receiver does. Returns their inbox numbers in the same order. */
export async function receive(
  db: Database,
  bodies: readonly Buffer[],
  receivedAt = new Date(),
): Promise<readonly number[]> {
  const events = bodies.map((body) => ({
    ...readEnvelope(body),
    body,
    bodyHash: createHash('sha256').update(body).digest(),
    secretFingerprint: FINGERPRINT,
  }));
  const { outcomes: stored } = await storeBatch(db, events, receivedAt);
  return stored.flatMap((result) => ('toEnqueue' in result ? (result.toEnqueue ?? []) : []));
}

/** Stores bodies one after the other, so that their inbox numbers ascend: those of one batch follow the event ids. */
export async function receiveEach(
  db: Database,
  bodies: readonly Buffer[],
): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (const body of bodies) numbers.push(...(await receive(db, [body])));
  return numbers;
}

/** Receives and applies bodies, each in its own transaction. */
export async function applyEach(
  db: Database,
  applier: EventApplier,
  bodies: readonly Buffer[],
): Promise<void> {
  for (const body of bodies) await applier.applyBatch(await receive(db, [body]));
}

/** The merged state of resources, without values that differ between runs. */
export function readResourceStates(db: Database, ids: readonly string[]): Promise<object[]> {
  return db.query(
    `select kind, id, payment_id, order_key, status, stage, currency, amount_minor, authorized_minor,
            captured_minor, epoch, version_micros, posts, uncertainties,
            open_findings, is_check_wanted
       from resources where id = any ($1) order by kind, id`,
    [ids],
  );
}

export function readOrderStates(db: Database, orderIds: readonly string[]): Promise<object[]> {
  return db.query(
    `select o.order_key, o.status as order_status, o.moved_to, t.currency, t.status,
            t.authorized_minor, t.captured_minor, t.refunded_minor, t.refund_pending_minor,
            t.disputed_minor, t.charged_back_minor
       from orders o left join order_totals t using (order_key)
      where o.order_id = any ($1) order by o.order_key, t.currency`,
    [orderIds],
  );
}

export function readOpenFindings(db: Database, subject: string): Promise<{ class: string }[]> {
  return db.query(
    `select class from findings where subject = $1 and state = 'open' order by class`,
    [subject],
  );
}
