/**
 * The timeline of an order or of a resource: what happened to it, in order, each entry with its cause.
 *
 * 1. By recorded time, entries are ordered by the database's clock. Entries of one moment are in causal order:
 *    event, snapshot, transfer, status of the order, finding, alert, action of a person.
 * 2. An event is placed at its receipt, which another machine's clock measured, but never after the
 *    entries that it caused.
 * 3. An event without new information has no snapshot and no entry.
 * 4. A registration and an acknowledgment have one entry each, and none of the audit log.
 * 5. By effective time, snapshots and transfers are at the time of their change at the service. Everything else
 *    happened here, when it was recorded. Entries of one time are in recorded order.
 */
import type { AuditAction, AuditResult } from '../../audit/domain/entry.ts';
import { auditSentence } from '../../audit/domain/text.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { OrderStatus } from '../../webhooks/orderStatuses.ts';
import type { TimeBasis } from './effectiveTimes.ts';
import { declineOf } from './explain.ts';
import { findingMeaning } from './findings.ts';
import type {
  AlertHistory,
  AuditHistory,
  ExpectationHistory,
  FindingHistory,
  History,
  SnapshotHistory,
  StatusHistory,
  TransferHistory,
} from './history.ts';
import type { SnapshotSource } from './snapshot.ts';

/** The source of the observation that caused an entry. */
export interface Cause {
  readonly source: SnapshotSource;
  /** The inbox number and the service's id of the event, if there was one. */
  readonly eventNumber: number | null;
  readonly eventId: string | null;
}

interface EntryBase {
  /** When it was recorded; of an event, when it was received. */
  readonly atMicros: number;
  /** One sentence, with amounts as people write them. */
  readonly text: string;
}

export type TimelineEntry = EntryBase &
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
        readonly effectiveMicros: number;
        readonly status: string | null;
        readonly stage: string | null;
        readonly currency: string | null;
        readonly amountMinor: number | null;
        readonly receivedMinor: number | null;
        readonly unifiedCode: string | null;
        readonly unifiedMessage: string | null;
        /** Why it failed or was opened; see contract/reasons.ts. */
        readonly reason: string | null;
        readonly isCurrent: boolean;
        readonly cause: Cause;
      }
    | {
        readonly type: 'transfer';
        readonly kind: ResourceKind;
        readonly id: string;
        /** Null: posted by an earlier version, and not dated yet. */
        readonly effectiveMicros: number | null;
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
    | {
        readonly type: 'action';
        readonly number: number;
        readonly action: AuditAction;
        readonly subjectKind: string;
        readonly subjectId: string;
        readonly by: string;
        readonly role: string;
        readonly reason: string | null;
        readonly result: AuditResult;
        readonly attempt: number | null;
      }
  );

/** Actions that have an entry of another type (rule 4). */
export const ACTIONS_SHOWN_OTHERWISE = [
  'alert.acknowledge',
  'order.register',
] as const satisfies readonly AuditAction[];

/** The order of entries of one moment. */
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
  action: 7,
};

interface Placed {
  readonly entry: TimelineEntry;
  readonly sortMicros: number;
}

/** Builds a timeline by recorded time, oldest first. Rows of each kind are given in order. */
export function buildTimeline(history: History): readonly TimelineEntry[] {
  const placed: Placed[] = [
    ...history.expectations.map(expectationEntry).map(atItsTime),
    ...eventEntries(history.snapshots),
    ...history.snapshots.map(snapshotEntry).map(atItsTime),
    ...history.transfers.map(transferEntry).map(atItsTime),
    ...history.statuses.map(statusEntry).map(atItsTime),
    ...history.findings.flatMap(findingEntries).map(atItsTime),
    ...history.alerts.flatMap(alertEntries).map(atItsTime),
    ...history.audit.map(actionEntry).map(atItsTime),
  ];
  return placed
    .sort((a, b) => a.sortMicros - b.sortMicros || STEPS[a.entry.type] - STEPS[b.entry.type])
    .map(({ entry }) => entry);
}

/** A timeline in the order of a basis (invariants 1 and 5). @param recorded as `buildTimeline` returns it */
export function timelineBy(
  basis: TimeBasis,
  recorded: readonly TimelineEntry[],
): readonly TimelineEntry[] {
  switch (basis) {
    case 'recorded':
      return recorded;
    case 'effective':
      return recorded.toSorted((a, b) => effectiveMicrosOf(a) - effectiveMicrosOf(b));
  }
}

/** When it happened: at the service, or here. */
export function effectiveMicrosOf(entry: TimelineEntry): number {
  return ('effectiveMicros' in entry ? entry.effectiveMicros : null) ?? entry.atMicros;
}

function atItsTime(entry: TimelineEntry): Placed {
  return { entry, sortMicros: entry.atMicros };
}

/** Each event once, even if it has several snapshots (invariant 2). */
function eventEntries(snapshots: readonly SnapshotHistory[]): readonly Placed[] {
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

function snapshotEntry(row: SnapshotHistory): TimelineEntry {
  const { kind, id, effectiveMicros, status, stage, currency, amountMinor, receivedMinor } = row;
  const { unifiedCode = null, unifiedMessage = null } = row;
  const { isCurrent, source, eventNumber, eventId } = row;
  return {
    type: 'snapshot',
    atMicros: row.recordedMicros,
    text: `${OBSERVED[source]} ${kind} ${id}, ${describeState(row)}.${reasonSentence(row)}`,
    kind,
    id,
    effectiveMicros,
    status,
    stage,
    currency,
    amountMinor,
    receivedMinor,
    unifiedCode,
    unifiedMessage,
    reason: describeReason(kind, status, row) ?? null,
    isCurrent,
    cause: { source, eventNumber, eventId },
  };
}

function describeState(row: SnapshotHistory): string {
  const { status, stage, currency, amountMinor, receivedMinor } = row;
  const state = [status ?? 'no status', stage].filter((word) => word !== null).join(' at ');
  if (currency === null || amountMinor === null) return `${state}, no amount`;
  const received =
    receivedMinor === null ? [] : [`received ${formatMoney(receivedMinor, currency)}`];
  return [state, formatMoney(amountMinor, currency), ...received].join(', ');
}

/** Why it failed or was opened, if the body has a reason; for a payment, also what to do. */
function reasonSentence(row: SnapshotHistory): string {
  const { kind, status, unifiedCode, unifiedMessage } = row;
  if (kind !== 'payment' || status !== 'failed' || !unifiedCode) {
    const reason = describeReason(kind, status, row);
    return reason === undefined ? '' : ` Reason: ${reason}.`;
  }
  const { message, advice } = declineOf(unifiedCode, unifiedMessage ?? undefined);
  const reason = describeReason(kind, status, { ...row, unifiedMessage: message });
  return ` ${reason}. ${advice}`;
}

const OBSERVED: Readonly<Record<SnapshotSource, string>> = {
  webhook: 'Received in an event:',
  retrieve: 'Retrieved from the service:',
  list: 'Read from a list of the service:',
};

function transferEntry(row: TransferHistory): TimelineEntry {
  const { kind, id, effectiveMicros, leg, debit, credit, currency, amountMinor } = row;
  const { cumulativeMinor } = row;
  const amount = formatMoney(amountMinor, currency);
  const total = formatMoney(cumulativeMinor, currency);
  return {
    type: 'transfer',
    atMicros: row.recordedMicros,
    text: `Posted ${amount} for ${kind} ${id} (${leg}), ${total} in total: debit ${debit}, credit ${credit}.`,
    kind,
    id,
    effectiveMicros,
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

function statusEntry(row: StatusHistory): TimelineEntry {
  const { status, previousStatus } = row;
  const text =
    previousStatus === null
      ? `The order is new; its status is ${status}.`
      : `The status of the order changed from ${previousStatus} to ${status}.`;
  return {
    type: 'status',
    atMicros: row.changedMicros,
    text,
    status,
    previousStatus,
    cause: causeOf(row, null),
  };
}

function expectationEntry(row: ExpectationHistory): TimelineEntry {
  const { currency, amountMinor, registeredBy } = row;
  return {
    type: 'registered',
    atMicros: row.registeredMicros,
    text: `${registeredBy} registered an expected amount of ${formatMoney(amountMinor, currency)}.`,
    currency,
    amountMinor,
    by: registeredBy,
  };
}

function findingEntries(row: FindingHistory): readonly TimelineEntry[] {
  const { id, class: name, subject, detail, openedMicros, closedMicros } = row;
  const about = { number: id, class: name, subject, detail };
  const meaning = findingMeaning(name);
  const opened: TimelineEntry = {
    type: 'finding_opened',
    atMicros: openedMicros,
    text: `Finding ${name} opened about ${subject}: ${meaning}`,
    ...about,
  };
  if (closedMicros === null) return [opened];
  return [
    opened,
    {
      type: 'finding_closed',
      atMicros: closedMicros,
      text: `Finding ${name} closed about ${subject}.`,
      ...about,
    },
  ];
}

/** An alert that only informs is resolved from the start, and has one entry. */
function alertEntries(row: AlertHistory): readonly TimelineEntry[] {
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
    const text = `Alert ${id} (${rule}) was resolved.`;
    entries.push({ type: 'alert_resolved', atMicros: resolvedMicros, text, ...about });
  }
  return entries;
}

function actionEntry(row: AuditHistory): TimelineEntry {
  const { id, recordedMicros, actorName, actorRole, action, subjectKind, subjectId } = row;
  return {
    type: 'action',
    atMicros: recordedMicros,
    text: auditSentence(row),
    number: id,
    action,
    subjectKind,
    subjectId,
    by: actorName,
    role: actorRole,
    reason: row.reason,
    result: row.result,
    attempt: row.attempt,
  };
}
