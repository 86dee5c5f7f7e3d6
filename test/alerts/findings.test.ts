/** Alerts about findings are written in the transaction that opens or closes the finding. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raiseWaitingFindings } from '../../src/alerts/syncFindingAlerts.ts';
import { acceptFinding } from '../../src/ledger/acceptFinding.ts';
import { replayEvents } from '../../src/ledger/inbox/applyEvents.ts';
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

/** An event of a payment on a day of November 2026. */
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

const summarize = (alerts: readonly StoredAlert[]) =>
  alerts.map(({ rule, state, notifications }) => [rule, state, ...notifications]);

describe('a finding', () => {
  test('raises one alert while it is open, and resolves it when it closes', async () => {
    const id = unique('pay');
    const subject = `payment:${id}`;
    await apply(captured(id, 1500));
    expect(summarize(await alertsOf(subject))).toEqual([['over_capture', 'open', 'opened']]);
    // Observed again by another event with the same content.
    await apply(captured(id, 1500));
    // The finding grows: the same alert is updated.
    await apply(captured(id, 1800, 2));
    expect(summarize(await alertsOf(subject))).toEqual([['over_capture', 'open', 'opened']]);
    const [row] = await db.query<{ sentence: string; payment_id: string; order_id: string | null }>(
      'select sentence, payment_id, order_id from alerts where subject = $1',
      [subject],
    );
    expect(row).toMatchObject({ payment_id: id });
    expect(row?.sentence).toContain('18.00 USD');

    // The payment's amount was increased to the captured amount.
    await apply(captured(id, 1800, 3, 1800));
    expect(summarize(await alertsOf(subject))).toEqual([
      ['over_capture', 'resolved', 'opened', 'resolved'],
    ]);
    await apply(captured(id, 1900, 4, 1800));
    expect(summarize(await alertsOf(subject)).at(-1)).toEqual(['over_capture', 'open', 'opened']);
  });

  test('resolves its alert when it is accepted, and raises another when it grows', async () => {
    const id = unique('pay');
    const subject = `payment:${id}`;
    await apply(captured(id, 1500));
    await acceptFinding(db, await findingOf(subject), { by: 'ada', reason: 'a tip' });
    expect(summarize(await alertsOf(subject))).toEqual([
      ['over_capture', 'resolved', 'opened', 'resolved'],
    ]);
    await apply(captured(id, 1500, 2));
    expect(await alertsOf(subject)).toHaveLength(1);
    await apply(captured(id, 1700, 3));
    expect(summarize(await alertsOf(subject)).at(-1)).toEqual(['over_capture', 'open', 'opened']);
  });

  test('about an order names the order in its alert', async () => {
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
          `Refunds of order ${orderId} exceed what their payments captured by 5.00 USD.`,
        ),
      },
    ]);
  });

  test('leaves no alert if its transaction fails', async () => {
    const subject = `payment:${unique('pay')}`;
    const work = db.transaction(async (tx) => {
      await openFindings(tx, [{ class: 'orphan', subject, detail: {} }]);
      throw new Error('the transaction fails');
    });
    await expect(work).rejects.toThrow('the transaction fails');
    expect(await alertsOf(subject)).toEqual([]);
  });
});

describe('an event', () => {
  test.each([
    ['unreadable_event', () => Buffer.from(`{"no":"envelope ${unique('x')}"`)],
    ['foreign_merchant', () => eventBody(paymentObject(), { merchantId: 'mer_other' })],
  ] as const)('%s raises an alert immediately', async (rule, body) => {
    const [id = 0] = await receive(db, [body()]);
    await testApplier(db).applyBatch([id]);
    expect(summarize(await alertsOf(`event:${id}`))).toEqual([[rule, 'open', 'opened']]);
  });

  test('with a reused id raises an alert, which a replay resolves until the reuse is found again', async () => {
    const eventId = unique('evt');
    const [id = 0] = await receive(db, [eventBody(paymentObject(), { eventId })]);
    await receive(db, [eventBody(paymentObject(), { eventId })]);
    await testApplier(db).applyBatch([id]);
    expect(summarize(await alertsOf(`event:${id}`))).toEqual([
      ['event_id_reused', 'open', 'opened'],
    ]);
    await replayEvents(db, [id]);
    await testApplier(db).applyBatch([id]);
    expect(summarize(await alertsOf(`event:${id}`))).toEqual([
      ['event_id_reused', 'resolved', 'opened', 'resolved'],
      ['event_id_reused', 'open', 'opened'],
    ]);
  });

  test('that is dead raises an alert without the error, which may quote personal data, and a replay resolves it', async () => {
    const [id = 0] = await receive(db, [paymentEvent({})]);
    await testApplier(db).markDead(id, 8, 'invalid name: Ada Lovelace');
    expect(summarize(await alertsOf(`event:${id}`))).toEqual([['event_dead', 'open', 'opened']]);
    const [row] = await db.query<object>('select * from alerts where subject = $1', [
      `event:${id}`,
    ]);
    expect(JSON.stringify(row)).not.toContain('Lovelace');
    await replayEvents(db, [id]);
    expect(summarize(await alertsOf(`event:${id}`))).toEqual([
      ['event_dead', 'resolved', 'opened', 'resolved'],
    ]);
  });
});

describe('a finding that a retrieve usually closes', () => {
  const open = (subject: string) =>
    db.transaction((tx) => openFindings(tx, [{ class: 'stale_local', subject, detail: {} }]));
  const makeOlder = (subject: string) =>
    db.query(`update findings set opened_at = now() - interval '1 hour' where subject = $1`, [
      subject,
    ]);

  test('raises no alert if it is closed in time', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await raiseWaitingFindings(db, { hasApiKey: true });
    await db.transaction((tx) => closeClasses(tx, ['stale_local'], [subject]));
    expect(await alertsOf(subject)).toEqual([]);
  });

  test('raises one alert if it stays open, and resolves it when it closes', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await makeOlder(subject);
    await raiseWaitingFindings(db, { hasApiKey: true });
    await raiseWaitingFindings(db, { hasApiKey: true });
    expect(summarize(await alertsOf(subject))).toEqual([['stale_local', 'open', 'opened']]);
    await db.transaction((tx) => closeClasses(tx, ['stale_local'], [subject]));
    expect(summarize(await alertsOf(subject))).toEqual([
      ['stale_local', 'resolved', 'opened', 'resolved'],
    ]);
  });

  test('raises an alert again if it opens again and stays open', async () => {
    const subject = `payment:${unique('pay')}`;
    for (const _ of ['first', 'second']) {
      await open(subject);
      await makeOlder(subject);
      await raiseWaitingFindings(db, { hasApiKey: true });
      await db.transaction((tx) => closeClasses(tx, ['stale_local'], [subject]));
    }
    const alert = ['stale_local', 'resolved', 'opened', 'resolved'];
    expect(summarize(await alertsOf(subject))).toEqual([alert, alert]);
  });

  test('raises no alert if it is accepted', async () => {
    const subject = `payment:${unique('pay')}`;
    await open(subject);
    await makeOlder(subject);
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
    const prefix = randomBytes(4).toString('hex');
    const findings = Array.from({ length: 10_000 }, (_, index) => ({
      class: 'orphan' as const,
      subject: `payment:pay_${prefix}_${index}`,
      detail: { since: '2026-11-20T10:00:00Z' },
    }));
    expect(await statementsOf((tx) => openFindings(tx, findings))).toBeLessThan(8);
    const subjects = findings.map(({ subject }) => subject);
    const count = () =>
      db.query<{ state: string; alerts: number }>(
        `select state, count(*) as alerts from alerts where subject like $1 group by state`,
        [`payment:pay_${prefix}_%`],
      );
    expect(await count()).toEqual([{ state: 'open', alerts: 10_000 }]);
    const closing = (tx: Queryable) => closeClasses(tx, ['orphan'], subjects);
    expect(await statementsOf(closing)).toBeLessThan(8);
    expect(await count()).toEqual([{ state: 'resolved', alerts: 10_000 }]);
  });

  test('is zero if no class with alerts opens or closes', async () => {
    const subject = `payment:${unique('pay')}`;
    const silent = [{ class: 'version_ahead' as const, subject, detail: {} }];
    expect(await statementsOf((tx) => openFindings(tx, []))).toBe(0);
    expect(await statementsOf((tx) => openFindings(tx, silent))).toBe(1);
    expect(await statementsOf((tx) => closeClasses(tx, ['stale_local'], [subject]))).toBe(1);
  });
});
