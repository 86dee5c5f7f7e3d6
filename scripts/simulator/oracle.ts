/**
 * Judges a life: what must hold at every instant, and what must hold once everything has healed.
 *
 * At every instant
 *   1. Each acknowledged event is in the inbox once.
 *   2. The totals of an order are the sum of its parts.
 *   3. The legs of a resource continue each other and end where the resource states.
 *   4. The feed has no gap, and no reader read a change twice.
 *   5. There is at most one unresolved alert for each rule, subject and variant.
 *   6. No two transactions have waited for each other.
 *   7. No message is sent by two live processes at the same time.
 *   8. The service got no more requests to capture a payment than were claimed.
 * Once healed
 *   9. Each acknowledged event is applied.
 *  10. The ledger equals the service, to the cent.
 *  11. Each failed refund has one alert.
 *  12. Every change has its number, and the last change of an order has its status.
 *  13. Each notification became a message once, and each message was received.
 *
 * It computes what it expects from the service's own objects, and shares no rule with the ledger.
 */
import { committedRows } from './database/rows.ts';
import type { ResourceRow, Tables } from './database/tables.ts';
import type { ServiceObject } from './service.ts';

export interface Facts {
  readonly tables: Tables;
  readonly objects: readonly ServiceObject[];
  readonly acknowledged: ReadonlySet<string>;
  readonly deadlocks: number;
  /** Numbers that a reader of the feed read, in its order. */
  readonly read: readonly number[];
  /** Ids of the messages that the channel received. */
  readonly received: ReadonlySet<string>;
  /** How many requests to capture each payment arrived at the service. */
  readonly captures: ReadonlyMap<string, number>;
  /** Messages that two live processes were sending at the same time. */
  readonly sentAtOnce: readonly string[];
}

/** What is broken now; rules 1 to 8. */
export function brokenNow(facts: Facts): readonly string[] {
  return [
    ...lostEvents(facts),
    ...wrongTotals(facts),
    ...brokenLegs(facts),
    ...brokenFeed(facts),
    ...doubleAlerts(facts),
    ...unclaimedCaptures(facts),
    ...facts.sentAtOnce.map((id) => `two processes sent ${id} at the same time`),
    ...(facts.deadlocks > 0 ? ['two transactions waited for each other'] : []),
  ];
}

/** What has not converged; rules 9 to 13. */
export function notConverged(facts: Facts): readonly string[] {
  return [
    ...unapplied(facts),
    ...differences(facts),
    ...wrongAlerts(facts),
    ...unnumbered(facts),
    ...undelivered(facts),
  ];
}

function lostEvents({ tables, acknowledged }: Facts): readonly string[] {
  const stored = new Map<string | null, number>();
  for (const { event_id } of committedRows(tables.webhook_events)) {
    stored.set(event_id, (stored.get(event_id) ?? 0) + 1);
  }
  return [...acknowledged].flatMap((id) => {
    const times = stored.get(id) ?? 0;
    return times === 1 ? [] : [`${id} was acknowledged and is in the inbox ${times} times`];
  });
}

function sum(rows: readonly ResourceRow[], amount: (row: ResourceRow) => number | null): number {
  return rows.reduce((total, row) => total + (amount(row) ?? 0), 0);
}

function wrongTotals({ tables }: Facts): readonly string[] {
  const resources = committedRows(tables.resources);
  const totals = committedRows(tables.order_totals);
  return committedRows(tables.orders).flatMap(({ order_key }) => {
    const parts = resources.filter((row) => row.order_key === order_key && row.currency !== null);
    const refunds = parts.filter(({ kind }) => kind === 'refund');
    const held = parts.filter(({ status }) => status === 'requires_capture');
    const expected = {
      authorized: sum(held, (row) => row.authorized_minor - row.captured_minor),
      captured: sum(parts, (row) => (row.kind === 'payment' ? row.captured_minor : 0)),
      refunded: sum(refunds, (row) => (row.status === 'succeeded' ? row.amount_minor : 0)),
      pending: sum(refunds, (row) => (row.status === 'pending' ? row.amount_minor : 0)),
    };
    const own = totals.find((row) => row.order_key === order_key);
    const stored = {
      authorized: own?.authorized_minor ?? 0,
      captured: own?.captured_minor ?? 0,
      refunded: own?.refunded_minor ?? 0,
      pending: own?.refund_pending_minor ?? 0,
    };
    const [a, b] = [JSON.stringify(stored), JSON.stringify(expected)];
    return a === b ? [] : [`the totals of ${order_key} are ${a}, and its parts add up to ${b}`];
  });
}

function brokenLegs({ tables }: Facts): readonly string[] {
  const problems: string[] = [];
  const ends = new Map<string, { seq: number; minor: number }>();
  for (const row of committedRows(tables.transfers).sort((a, b) => a.leg_seq - b.leg_seq)) {
    const leg = `${row.kind} ${row.resource_id} ${row.currency} ${row.leg}`;
    const { seq, minor } = ends.get(leg) ?? { seq: 0, minor: 0 };
    if (row.leg_seq !== seq + 1 || row.previous_minor !== minor) problems.push(`${leg} is broken`);
    ends.set(leg, { seq: row.leg_seq, minor: row.cumulative_minor });
  }
  for (const { kind, id, posted } of committedRows(tables.resources)) {
    for (const [currency, legs] of Object.entries(posted as Posted)) {
      for (const [leg, { cumulativeMinor }] of Object.entries(legs)) {
        const end = ends.get(`${kind} ${id} ${currency} ${leg}`)?.minor;
        if (end === cumulativeMinor) continue;
        problems.push(
          `${kind} ${id} states ${cumulativeMinor} in leg ${leg}, which ends at ${end}`,
        );
      }
    }
  }
  return problems;
}

type Posted = Readonly<Record<string, Readonly<Record<string, { cumulativeMinor: number }>>>>;

function brokenFeed({ tables, read }: Facts): readonly string[] {
  const numbers = committedRows(tables.changes).map(({ number }) => number);
  const last = Math.max(0, ...numbers);
  const isGapless = numbers.length === last;
  const isReadInOrder = read.every((number, place) => number === place + 1);
  return [
    ...(isGapless ? [] : [`the feed has ${numbers.length} changes and ends at ${last}`]),
    ...(isReadInOrder ? [] : [`a reader of the feed read ${read.join(', ')}`]),
  ];
}

function doubleAlerts({ tables }: Facts): readonly string[] {
  const seen = new Set<string>();
  return committedRows(tables.alerts).flatMap(({ state, rule, subject, variant }) => {
    if (state === 'resolved') return [];
    const key = `${rule} ${subject} ${variant}`;
    if (seen.has(key)) return [`two unresolved alerts: ${key}`];
    seen.add(key);
    return [];
  });
}

function unclaimedCaptures({ tables, captures }: Facts): readonly string[] {
  const attempts = committedRows(tables.authorization_log).filter(({ kind }) => kind === 'policy');
  return [...captures].flatMap(([id, requests]) => {
    const claimed = attempts.filter(({ payment_id }) => payment_id === id).length;
    if (requests <= claimed) return [];
    return [`${requests} requests to capture ${id} were sent, and ${claimed} were claimed`];
  });
}

function unapplied({ tables, acknowledged }: Facts): readonly string[] {
  const names = new Map(committedRows(tables.webhook_events).map((row) => [row.id, row.event_id]));
  const unfinished = [...committedRows(tables.pending), ...committedRows(tables.dead_events)];
  return unfinished.flatMap(({ webhook_event_id }) => {
    const id = names.get(webhook_event_id);
    if (id === undefined || id === null || !acknowledged.has(id)) return [];
    return [`${id} was acknowledged and is not applied`];
  });
}

function differences({ tables, objects }: Facts): readonly string[] {
  const rows = new Map(
    committedRows(tables.resources).map((row) => [`${row.kind} ${row.id}`, row]),
  );
  return objects.flatMap((object) => {
    const name = `${object.kind} ${object.id}`;
    const row = rows.get(name);
    const body = object.versions.at(-1)?.body;
    const expected = {
      status: body?.status ?? null,
      amount: object.amountMinor,
      captured: object.kind === 'payment' ? (body?.amount_received ?? 0) : 0,
      order:
        object.orderId === undefined ? `payment:${object.paymentId}` : `order:${object.orderId}`,
    };
    const stored = {
      status: row?.status ?? null,
      amount: row?.amount_minor ?? null,
      captured: row?.captured_minor ?? 0,
      order: row?.order_key ?? null,
    };
    const [a, b] = [JSON.stringify(stored), JSON.stringify(expected)];
    if (a !== b) return [`${name} is ${a} in the ledger and ${b} at the service`];
    return wrongMoney(tables, object, expected);
  });
}

/** What the journal moved for a resource. */
function wrongMoney(
  tables: Tables,
  { kind, id, amountMinor }: ServiceObject,
  { status, captured }: { readonly status: string | null; readonly captured: number },
): readonly string[] {
  const [leg, expected] =
    kind === 'payment'
      ? (['captured', captured] as const)
      : (['settled', status === 'succeeded' ? amountMinor : 0] as const);
  const moved = committedRows(tables.transfers)
    .filter((row) => row.kind === kind && row.resource_id === id && row.leg === leg)
    .reduce((total, row) => total + row.cumulative_minor - row.previous_minor, 0);
  return moved === expected
    ? []
    : [`the journal moved ${moved} in leg ${leg} of ${kind} ${id}, not ${expected}`];
}

function wrongAlerts({ tables, objects }: Facts): readonly string[] {
  const alerts = committedRows(tables.alerts).filter(({ rule }) => rule === 'refund_failed');
  return objects.flatMap(({ kind, id, versions }) => {
    if (kind !== 'refund') return [];
    const own = alerts.filter(({ subject }) => subject === `refund:${id}`).length;
    const expected = versions.at(-1)?.body.status === 'failed' ? 1 : 0;
    return own === expected ? [] : [`refund ${id} has ${own} alerts, not ${expected}`];
  });
}

function unnumbered({ tables }: Facts): readonly string[] {
  const waiting = committedRows(tables.change_log).length;
  if (waiting > 0) return [`${waiting} changes have no number`];
  const last = new Map(
    committedRows(tables.changes)
      .sort((a, b) => a.number - b.number)
      .map((row) => [row.order_key, row.status]),
  );
  return committedRows(tables.orders).flatMap(({ order_key, status }) => {
    const shown = last.get(order_key) ?? null;
    return shown === status ? [] : [`the last change of ${order_key} is ${shown}, not ${status}`];
  });
}

function undelivered({ tables, received }: Facts): readonly string[] {
  const messages = committedRows(tables.messages);
  const lost = messages.flatMap(({ id, state }) =>
    state === 'delivered' && received.has(id) ? [] : [`message ${id} is ${state}`],
  );
  const waiting = committedRows(tables.alert_outbox).length;
  if (waiting > 0) return [...lost, `${waiting} notifications are in no message`];
  if (messages.some(({ kind }) => kind !== 'alert')) return lost;
  const opened = messages.map(({ content }) => content.alert as Notified);
  const notified = committedRows(tables.alerts).flatMap(({ id, rule, subject, state }) => {
    const times = opened.filter(({ alertId, type }) => alertId === id && OPENED.has(type)).length;
    // One that was resolved before it was sent need not be.
    return times === 1 || (times === 0 && state === 'resolved')
      ? []
      : [`${rule} of ${subject} was notified ${times} times`];
  });
  return [...lost, ...notified];
}

const OPENED = new Set(['opened', 'opened_and_resolved']);

interface Notified {
  readonly alertId: number;
  readonly type: string;
}
