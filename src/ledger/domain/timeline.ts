/**
 * The timeline of an order: what happened to it, in order, each entry with its cause.
 *
 * 1. Entries are ordered by the database's clock; those of one moment as one follows from the
 *    other: event, snapshot, transfer, status of the order, finding, alert.
 * 2. An event stands at its receipt, which another machine's clock measured; it is never told after
 *    what it brought.
 * 3. An event that said nothing new brought no snapshot and is not told: nothing followed from it.
 */
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { declineOf } from './explain.ts';
import { findingMeaning } from './findings.ts';
import type {
  AlertHistory,
  ExpectationHistory,
  FindingHistory,
  OrderHistory,
  SnapshotHistory,
  StatusHistory,
  TransferHistory,
} from './history.ts';
import type { OrderStatus } from './order.ts';
import type { SnapshotSource } from './snapshot.ts';

/** Where the knowledge came from that made something happen. */
export interface Cause {
  readonly source: SnapshotSource;
  /** Number in the inbox, and the service's id, of the event that brought it. */
  readonly eventNumber: number | null;
  readonly eventId: string | null;
}

interface Told {
  readonly atMicros: number;
  /** One sentence, with amounts as people write them. */
  readonly text: string;
}

export type TimelineEntry = Told &
  (
    | {
        readonly type: 'event';
        readonly number: number;
        readonly eventId: string | null;
        readonly eventType: string | null;
      }
    | {
        readonly type: 'snapshot';
        readonly kind: ResourceKind;
        readonly id: string;
        readonly status: string | null;
        readonly stage: string | null;
        readonly currency: string | null;
        readonly amountMinor: number | null;
        readonly receivedMinor: number | null;
        readonly unifiedCode: string | null;
        readonly unifiedMessage: string | null;
        /** Why it failed or was opened; see contract/reasons.ts. */
        readonly reason: string | null;
        readonly rules: boolean;
        readonly cause: Cause;
      }
    | {
        readonly type: 'transfer';
        readonly kind: ResourceKind;
        readonly id: string;
        readonly leg: string;
        readonly debit: string;
        readonly credit: string;
        readonly currency: string;
        readonly amountMinor: number;
        readonly cumulativeMinor: number;
        readonly cause: Cause | null;
      }
    | {
        readonly type: 'status';
        readonly status: OrderStatus | null;
        readonly previousStatus: OrderStatus | null;
        readonly cause: Cause | null;
      }
    | {
        readonly type: 'registered';
        readonly currency: string;
        readonly amountMinor: number;
        readonly by: string;
      }
    | {
        readonly type: 'finding_opened' | 'finding_closed';
        readonly number: number;
        readonly class: string;
        readonly subject: string;
        readonly detail: Readonly<Record<string, unknown>>;
      }
    | {
        readonly type: 'alert_opened' | 'alert_acknowledged' | 'alert_resolved';
        readonly number: number;
        readonly rule: string;
        readonly subject: string;
        readonly severity: string;
      }
  );

/** Which of one moment comes first. */
const STEPS: Readonly<Record<TimelineEntry['type'], number>> = {
  registered: 0,
  event: 1,
  snapshot: 2,
  transfer: 3,
  status: 4,
  finding_opened: 5,
  finding_closed: 5,
  alert_opened: 6,
  alert_acknowledged: 6,
  alert_resolved: 6,
};

interface Placed {
  readonly entry: TimelineEntry;
  readonly sortMicros: number;
}

/** Tells a history, oldest first. Rows of one kind are given in their order. */
export function tellTimeline(history: OrderHistory): readonly TimelineEntry[] {
  const placed: Placed[] = [
    ...history.expectations.map(tellExpectation).map(atItsTime),
    ...tellEvents(history.snapshots),
    ...history.snapshots.map(tellSnapshot).map(atItsTime),
    ...history.transfers.map(tellTransfer).map(atItsTime),
    ...history.statuses.map(tellStatus).map(atItsTime),
    ...history.findings.flatMap(tellFinding).map(atItsTime),
    ...history.alerts.flatMap(tellAlert).map(atItsTime),
  ];
  return placed
    .sort((a, b) => a.sortMicros - b.sortMicros || STEPS[a.entry.type] - STEPS[b.entry.type])
    .map(({ entry }) => entry);
}

function atItsTime(entry: TimelineEntry): Placed {
  return { entry, sortMicros: entry.atMicros };
}

/** Each event once, however many parts it told of (invariant 2). */
function tellEvents(snapshots: readonly SnapshotHistory[]): readonly Placed[] {
  const events = new Map<number, Placed>();
  for (const { eventNumber, eventId, eventType, ...snapshot } of snapshots) {
    if (eventNumber === null || events.has(eventNumber)) continue;
    const atMicros = snapshot.eventReceivedMicros ?? snapshot.recordedMicros;
    const text = `Event ${eventId ?? `number ${eventNumber}`} arrived (${eventType ?? 'no type'}).`;
    events.set(eventNumber, {
      entry: { type: 'event', atMicros, text, number: eventNumber, eventId, eventType },
      sortMicros: Math.min(atMicros, snapshot.recordedMicros),
    });
  }
  return [...events.values()];
}

function tellSnapshot(row: SnapshotHistory): TimelineEntry {
  const { kind, id, status, stage, currency, amountMinor, receivedMinor } = row;
  const { unifiedCode = null, unifiedMessage = null } = row;
  const { rules, source, eventNumber, eventId } = row;
  return {
    type: 'snapshot',
    atMicros: row.recordedMicros,
    text: `${SEEN[source]} ${kind} ${id}: ${sayState(row)}.${sayReason(row)}`,
    kind,
    id,
    status,
    stage,
    currency,
    amountMinor,
    receivedMinor,
    unifiedCode,
    unifiedMessage,
    reason: describeReason(kind, status, row) ?? null,
    rules,
    cause: { source, eventNumber, eventId },
  };
}

function sayState(row: SnapshotHistory): string {
  const { status, stage, currency, amountMinor, receivedMinor } = row;
  const state = [status ?? 'no status', stage].filter((word) => word !== null).join(' at ');
  if (currency === null || amountMinor === null) return `${state}, no amount`;
  const received =
    receivedMinor === null ? [] : [`received ${formatMoney(receivedMinor, currency)}`];
  return [state, formatMoney(amountMinor, currency), ...received].join(', ');
}

/** Why it failed or was opened, where the body says so; for a payment, also what to do. */
function sayReason(row: SnapshotHistory): string {
  const { kind, status, unifiedCode, unifiedMessage } = row;
  if (kind !== 'payment' || status !== 'failed' || !unifiedCode) {
    const reason = describeReason(kind, status, row);
    return reason === undefined ? '' : ` Reason: ${reason}.`;
  }
  const { message, advice } = declineOf(unifiedCode, unifiedMessage ?? undefined);
  const reason = describeReason(kind, status, { ...row, unifiedMessage: message });
  return ` ${reason}. ${advice}`;
}

const SEEN: Readonly<Record<SnapshotSource, string>> = {
  webhook: 'An event told of',
  retrieve: 'The service was asked about',
  list: 'A list of the service showed',
};

function tellTransfer(row: TransferHistory): TimelineEntry {
  const { kind, id, leg, debit, credit, currency, amountMinor, cumulativeMinor } = row;
  const amount = formatMoney(amountMinor, currency);
  const inAll = formatMoney(cumulativeMinor, currency);
  return {
    type: 'transfer',
    atMicros: row.recordedMicros,
    text: `${amount} for ${leg} of ${kind} ${id}, ${inAll} in all: debit ${debit}, credit ${credit}.`,
    kind,
    id,
    leg,
    debit,
    credit,
    currency,
    amountMinor,
    cumulativeMinor,
    cause: causeOf(row, row.headSource),
  };
}

function causeOf(
  {
    eventNumber,
    eventId,
  }: { readonly eventNumber: number | null; readonly eventId: string | null },
  source: SnapshotSource | null,
): Cause | null {
  if (eventNumber !== null) return { source: 'webhook', eventNumber, eventId };
  return source === null ? null : { source, eventNumber, eventId };
}

function tellStatus(row: StatusHistory): TimelineEntry {
  const { status, previousStatus } = row;
  const text =
    previousStatus === null
      ? `The order was heard of for the first time; it is ${status}.`
      : `The order went from ${previousStatus} to ${status}.`;
  return {
    type: 'status',
    atMicros: row.changedMicros,
    text,
    status,
    previousStatus,
    cause: causeOf(row, null),
  };
}

function tellExpectation(row: ExpectationHistory): TimelineEntry {
  const { currency, amountMinor, registeredBy } = row;
  return {
    type: 'registered',
    atMicros: row.registeredMicros,
    text: `${registeredBy} registered that ${formatMoney(amountMinor, currency)} is expected.`,
    currency,
    amountMinor,
    by: registeredBy,
  };
}

function tellFinding(row: FindingHistory): readonly TimelineEntry[] {
  const { id, class: name, subject, detail, openedMicros, closedMicros } = row;
  const about = { number: id, class: name, subject, detail };
  const meaning = findingMeaning(name);
  const opened: TimelineEntry = {
    type: 'finding_opened',
    atMicros: openedMicros,
    text: `Found ${name} about ${subject}: ${meaning}`,
    ...about,
  };
  if (closedMicros === null) return [opened];
  return [
    opened,
    {
      type: 'finding_closed',
      atMicros: closedMicros,
      text: `Closed ${name} about ${subject}.`,
      ...about,
    },
  ];
}

/** News is resolved from the start, and only told. */
function tellAlert(row: AlertHistory): readonly TimelineEntry[] {
  const { id, rule, subject, severity, sentence, openedMicros } = row;
  const { acknowledgedMicros, acknowledgedBy, acknowledgedReason, resolvedMicros } = row;
  const about = { number: id, rule, subject, severity };
  const entries: TimelineEntry[] = [
    {
      type: 'alert_opened',
      atMicros: openedMicros,
      text: `Alert ${id} (${severity}): ${sentence}`,
      ...about,
    },
  ];
  if (acknowledgedMicros !== null) {
    const text = `${acknowledgedBy} acknowledged alert ${id}: ${acknowledgedReason}`;
    entries.push({ type: 'alert_acknowledged', atMicros: acknowledgedMicros, text, ...about });
  }
  if (resolvedMicros !== null && resolvedMicros > openedMicros) {
    const text = `Alert ${id} (${rule}) ended.`;
    entries.push({ type: 'alert_resolved', atMicros: resolvedMicros, text, ...about });
  }
  return entries;
}
