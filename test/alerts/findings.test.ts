/** Alerts about findings, written in the transaction that opens and closes them. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import { replayEvent } from '../../src/ledger/inbox/applyEvents.ts';
import { closeClasses, openFindings } from '../../src/ledger/recordFindings.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { readStoredAlerts, type StoredAlert } from '../support/alerts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject, unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const apply = (...bodies: readonly Buffer[]) => applyEach(db, testApplier(db), bodies);
const alertsOf = (subject: string) => readStoredAlerts(db, [subject]);

/** A payment at a time. */
function captured(id: string, capturedMinor: number, day = 1, amountMinor = 1000): Buffer {
  return paymentEvent({
    payment_id: id,
    amount: amountMinor,
    amount_received: capturedMinor,
    modified_at: new Date(Date.UTC(2026, 0, day)).toISOString(),
  });
}

async function findingOf(subject: string): Promise<number> {
  const rows = await db.query<{ id: number }>(
    `select id from findings where subject = $1 and state = 'open'`,
    [subject],
  );
  return rows[0]?.id ?? 0;
}

const said = (alerts: readonly StoredAlert[]) =>
  alerts.map(({ rule, state, notifications: types }) => [rule, state, ...types]);

describe('a finding', () => {
  test('alerts when it opens, not again while it is open, and resolves its alert when it closes', async () => {
    const id = unique('pay');
    const subject = `payment:${id}`;
    await apply(captured(id, 1500));
    expect(said(await alertsOf(subject))).toEqual([['over_capture', 'open', 'opened']]);
    // Seen again, by another event that says the same.
    await apply(captured(id, 1500));
    // It shows more: the same alert, brought up to date.
    await apply(captured(id, 1800, 2));
    expect(said(await alertsOf(subject))).toEqual([['over_capture', 'open', 'opened']]);
    const [row] = await db.query<{ sentence: string; payment_id: string; order_id: string | null }>(
      'select sentence, payment_id, order_id from alerts where subject = $1',
      [subject],
    );
    expect(row).toMatchObject({ payment_id: id });
    expect(row?.sentence).toContain('18.00 USD');

    // The payment was raised to what was captured.
    await apply(captured(id, 1800, 3, 1800));
    expect(said(await alertsOf(subject))).toEqual([
      ['over_capture', 'resolved', 'opened', 'resolved'],
    ]);
    await apply(captured(id, 1900, 4, 1800));
    expect(said(await alertsOf(subject)).at(-1)).toEqual(['over_capture', 'open', 'opened']);
  });

  test('that is accepted resolves its alert, and alerts again when it grows', async () => {
    const id = unique('pay');
    const subject = `payment:${id}`;
    await apply(captured(id, 1500));
    await acceptFinding(db, await findingOf(subject), { by: 'ada', reason: 'a tip' });
    expect(said(await alertsOf(subject))).toEqual([
      ['over_capture', 'resolved', 'opened', 'resolved'],
    ]);
    await apply(captured(id, 1500, 2));
    expect(await alertsOf(subject)).toHaveLength(1);
    await apply(captured(id, 1700, 3));
    expect(said(await alertsOf(subject)).at(-1)).toEqual(['over_capture', 'open', 'opened']);
  });

  test('about an order names the order', async () => {
    const [orderId, paymentId] = [unique('ord'), unique('pay')];
    await apply(
      paymentEvent({ payment_id: paymentId, orderId, amount: 1000, amount_received: 1000 }),
      refundEvent(paymentId, { amount: 700, status: 'succeeded' }),
      refundEvent(paymentId, { amount: 800, status: 'succeeded' }),
    );
    await db.query(
      `update findings set updated_at = updated_at - interval '30 minutes' where subject = $1`,
      [`order:order:${orderId}`],
    );
    await raiseWaitingFindings(db, { hasApiKey: false });
    const rows = await db.query(
      'select rule, severity, order_id, sentence from alerts where subject = $1',
      [`order:order:${orderId}`],
    );
    expect(rows).toEqual([
      {
        rule: 'over_refund',
        severity: 'critical',
        order_id: orderId,
        sentence: expect.stringContaining(
          `Refunds of order ${orderId} exceed the captured amount by 5.00 USD.`,
        ),
      },
    ]);
  });

  test('whose transaction fails leaves no alert behind', async () => {
    const subject = `payment:${unique('pay')}`;
    const work = db.transaction(async (tx) => {
      await openFindings(tx, [{ class: 'orphan', subject, detail: {} }]);
      throw new Error('the process ends here');
    });
    await expect(work).rejects.toThrow('the process ends here');
    expect(await alertsOf(subject)).toEqual([]);
  });
});

describe('an event', () => {
  test.each([
    ['unreadable_event', () => Buffer.from(`{"no":"envelope ${unique('x')}"`)],
    ['foreign_merchant', () => eventBody(paymentObject(), { merchantId: 'mer_other' })],
  ] as const)('%s alerts at once', async (rule, body) => {
    const [id = 0] = await receive(db, [body()]);
    await testApplier(db).applyBatch([id]);
    expect(said(await alertsOf(`event:${id}`))).toEqual([[rule, 'open', 'opened']]);
  });

  test('whose id arrives with another body alerts, and a replay resolves that until it is found again', async () => {
    const eventId = unique('evt');
    const [id = 0] = await receive(db, [eventBody(paymentObject(), { eventId })]);
    await receive(db, [eventBody(paymentObject(), { eventId })]);
    await testApplier(db).applyBatch([id]);
    expect(said(await alertsOf(`event:${id}`))).toEqual([['event_id_reused', 'open', 'opened']]);
    await replayEvent(db, id);
    await testApplier(db).applyBatch([id]);
    expect(said(await alertsOf(`event:${id}`))).toEqual([
      ['event_id_reused', 'resolved', 'opened', 'resolved'],
      ['event_id_reused', 'open', 'opened'],
    ]);
  });

  test('that is dead alerts without the error, which may quote personal data; a replay resolves it', async () => {
    const [id = 0] = await receive(db, [paymentEvent({})]);
    await testApplier(db).markDead(id, 8, 'invalid name: Ada Lovelace');
    expect(said(await alertsOf(`event:${id}`))).toEqual([['event_dead', 'open', 'opened']]);
    const [row] = await db.query<object>('select * from alerts where subject = $1', [
      `event:${id}`,
    ]);
    expect(JSON.stringify(row)).not.toContain('Lovelace');
    await replayEvent(db, id);
    expect(said(await alertsOf(`event:${id}`))).toEqual([
      ['event_dead', 'resolved', 'opened', 'resolved'],
    ]);
  });
});

describe('a finding that a retrieve usually closes', () => {
  const open = (subject: string) =>
    db.transaction((tx) => openFindings(tx, [{ class: 'stale_local', subject, detail: {} }]));
  const grow = (subject: string) =>
    db.query(`update findings set opened_at = now() - interval '1 hour' where subject = $1`, [
      subject,
    ]);

  test('does not alert when it is closed in time', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await raiseWaitingFindings(db, { hasApiKey: true });
    await db.transaction((tx) => closeClasses(tx, ['stale_local'], [subject]));
    expect(await alertsOf(subject)).toEqual([]);
  });

  test('alerts once when it stays open, and is resolved when it is closed', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await grow(subject);
    await raiseWaitingFindings(db, { hasApiKey: true });
    await raiseWaitingFindings(db, { hasApiKey: true });
    expect(said(await alertsOf(subject))).toEqual([['stale_local', 'open', 'opened']]);
    await db.transaction((tx) => closeClasses(tx, ['stale_local'], [subject]));
    expect(said(await alertsOf(subject))).toEqual([
      ['stale_local', 'resolved', 'opened', 'resolved'],
    ]);
  });

  test('does not alert when it is accepted', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await grow(subject);
    await acceptFinding(db, await findingOf(subject), { by: 'ada', reason: 'known' });
    await raiseWaitingFindings(db, { hasApiKey: true });
    expect(await alertsOf(subject)).toEqual([]);
  });
});

/** Counts the statements that `work` runs. */
async function statementsOf(work: (tx: Queryable) => Promise<void>): Promise<number> {
  let statements = 0;
  const counted: Database = {
    ...db,
    transaction: (inner) =>
      db.transaction((tx) =>
        inner({
          query: (text, values) => {
            statements += 1;
            return tx.query(text, values);
          },
        }),
      ),
  };
  await counted.transaction(work);
  return statements;
}

describe('the number of statements', () => {
  test('is small for 10,000 findings, each with its alert', async () => {
    const storm = randomBytes(4).toString('hex');
    const findings = Array.from({ length: 10_000 }, (_, place) => ({
      class: 'orphan' as const,
      subject: `payment:pay_${storm}_${place}`,
      detail: { since: '2026-11-20T10:00:00Z' },
    }));
    expect(await statementsOf((tx) => openFindings(tx, findings))).toBeLessThan(8);
    const subjects = findings.map(({ subject }) => subject);
    const count = () =>
      db.query<{ state: string; alerts: number }>(
        `select state, count(*) as alerts from alerts where subject like $1 group by state`,
        [`payment:pay_${storm}_%`],
      );
    expect(await count()).toEqual([{ state: 'open', alerts: 10_000 }]);
    const closing = (tx: Queryable) => closeClasses(tx, ['orphan'], subjects);
    expect(await statementsOf(closing)).toBeLessThan(8);
    expect(await count()).toEqual([{ state: 'resolved', alerts: 10_000 }]);
  });

  test('is zero if no class that alerts opens or closes', async () => {
    const subject = `payment:${unique('pay')}`;
    const silent = [{ class: 'version_ahead' as const, subject, detail: {} }];
    expect(await statementsOf((tx) => openFindings(tx, []))).toBe(0);
    expect(await statementsOf((tx) => openFindings(tx, silent))).toBe(1);
    expect(await statementsOf((tx) => closeClasses(tx, ['stale_local'], [subject]))).toBe(1);
  });
});
