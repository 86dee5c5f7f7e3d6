/**
 * Findings: differences between ledger and service, or inside either. A finding is named by its
 * class and its subject; one is open at a time for each name.
 *
 * Those about a resource follow its merged state: they open and close as the state changes. Those
 * about an event stay until somebody deals with the event.
 */
import type { EventReading, InboxEvent } from './event.ts';
import { dueMinor, type ResourceState } from './merge.ts';
import type { Merged } from './mergeObservations.ts';
import type { ResourceRef } from './snapshot.ts';

/** What each class means, for people. */
export const FINDING_CLASSES = {
  unknown_status: 'The service sent a status that this version does not know.',
  status_conflict: 'The history holds a step that no life can take, or the service contradicts it.',
  amount: 'An amount cannot be read, or bodies of the service contradict each other in money.',
  currency: 'A refund or dispute is in another currency than its payment.',
  over_capture: 'More was captured than the payment asked for.',
  capture_revoked:
    'The service reported captured money and then that the payment failed; the capture was reversed.',
  over_refund: 'More was refunded, or is about to be, than was captured.',
  double_paid: 'Two payments of one order were paid.',
  double_loss: 'Refunds and disputes together exceed what was captured.',
  dispute_and_refund: 'A dispute and a refund of one order are both undecided.',
  missing_local: 'The service shows something that could not be brought into the ledger.',
  stale_local: 'The service shows another state, and asking for it did not bring it here.',
  totals:
    'Counts of the service and of the ledger differ, and comparing row by row did not mend it.',
  list_unstable: 'A list of the service did not come to rest, or lacks what the service knows.',
  filter_ignored: 'The service ignores the filter of created time in a list.',
  watermark_ahead:
    "A list counted as read up to a time ahead of the service's clock; nothing was compared meanwhile.",
  service_unusable:
    'The payment service cannot be asked for this, or refuses it; it is not compared until it can.',
  orphan: 'Something was mentioned that the service has not known for a day.',
  missing_remote: 'The ledger holds something that the service does not know.',
  overdue: 'Money stands longer on its way than it should.',
  authorization_expiring: 'A hold is near the end of its time, or past it, and was not captured.',
  version_ahead: 'A body carries a version far in the future; it was not used as one.',
  link: 'One label of an event names another kind of resource than its ids and its other label do.',
  payment_conflict:
    'Bodies of a refund or dispute name different payments; it is filed under the one of the latest.',
  label_conflict:
    'The labels of an event name another kind of resource than its ids do; nothing was applied.',
  event_id_reused: 'Two different bodies came under one event id; the first one counts.',
  foreign_merchant: 'A signed event of another merchant account arrived; it was not applied.',
  unreadable_event: 'A signed body holds no usable envelope; it is kept and was not applied.',
  event_ignored: 'An event names no payment, refund, dispute or payout; nothing was applied.',
  event_dead: 'An event could not be applied in the allowed number of attempts.',
} as const;
export type FindingClass = keyof typeof FINDING_CLASSES;

/** What a class means; of classes that only a later version knows, nothing. */
export function findingMeaning(name: string): string {
  return Object.hasOwn(FINDING_CLASSES, name) ? FINDING_CLASSES[name as FindingClass] : '';
}

/** Classes that follow the merged state of a resource: all that `stateFindings` can show. */
export const STATE_FINDING_CLASSES = [
  'unknown_status',
  'status_conflict',
  'amount',
  'over_capture',
  'capture_revoked',
  'payment_conflict',
] as const satisfies readonly FindingClass[];

/** Classes about an event that say why it was taken in and posted nothing. */
export const NOT_APPLIED_CLASSES = [
  'unreadable_event',
  'foreign_merchant',
  'event_ignored',
  'label_conflict',
  'amount',
] as const satisfies readonly FindingClass[];

/** A difference as it is reported: its class, what it is about, and what was seen. */
export interface Finding<Class extends FindingClass = FindingClass> {
  readonly class: Class;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

type StateFinding = Finding<(typeof STATE_FINDING_CLASSES)[number]>;

export function resourceSubject({ kind, id }: ResourceRef): string {
  return `${kind}:${id}`;
}

export function eventSubject(webhookEventId: number): string {
  return `event:${webhookEventId}`;
}

/** Findings that the merged state of a resource shows now. */
export function stateFindings(ref: ResourceRef, { state, contradiction }: Merged): StateFinding[] {
  const subject = resourceSubject(ref);
  const findings: StateFinding[] = [];
  if (state?.doubts.includes('unknown_status')) {
    findings.push({ class: 'unknown_status', subject, detail: { status: state.status } });
  }
  const isStatusContradicted =
    contradiction?.terms.status !== undefined && contradiction.terms.status !== state?.status;
  if (isStatusContradicted || (state && state.illegalSteps.length > 0)) {
    findings.push({
      class: 'status_conflict',
      subject,
      detail: { steps: state?.illegalSteps ?? [], retrieved: contradiction?.terms ?? null },
    });
  }
  const isAmountContradicted = contradiction !== undefined && !isStatusContradicted;
  if (isAmountContradicted || state?.doubts.includes('conflicting_amounts')) {
    const retrieved = contradiction?.terms ?? null;
    findings.push({ class: 'amount', subject, detail: { retrieved } });
  }
  if (state && state.namedPayments.length > 0) {
    const { paymentId, namedPayments } = state;
    findings.push({ class: 'payment_conflict', subject, detail: { paymentId, namedPayments } });
  }
  if (state) findings.push(...captureFindings(subject, state));
  return findings;
}

/** Resources other than payments capture nothing. */
function captureFindings(subject: string, state: ResourceState): StateFinding[] {
  const { amountMinor, netAmountMinor, capturedMinor, revokedMinor, currency } = state;
  const findings: StateFinding[] = [];
  if (capturedMinor > (dueMinor(state) ?? Infinity)) {
    findings.push({
      class: 'over_capture',
      subject,
      detail: {
        amountMinor,
        ...(netAmountMinor !== undefined && { netAmountMinor }),
        capturedMinor,
        currency,
      },
    });
  }
  if (revokedMinor > 0) {
    findings.push({ class: 'capture_revoked', subject, detail: { revokedMinor, currency } });
  }
  return findings;
}

/** Findings that one event shows. */
export function eventFindings(event: InboxEvent, reading: EventReading): Finding[] {
  const subject = eventSubject(event.id);
  const named = { eventId: event.eventId };
  const findings: Finding[] = [];
  const report = (findingClass: FindingClass, detail: object) =>
    findings.push({ class: findingClass, subject, detail: { ...named, ...detail } });
  if (event.hasVariants) report('event_id_reused', {});
  switch (reading.outcome) {
    case 'no_envelope':
      report('unreadable_event', {});
      break;
    case 'foreign_merchant':
      report('foreign_merchant', { merchantId: reading.merchantId });
      break;
    case 'ignored':
      report('event_ignored', { contentType: reading.contentType });
      break;
    case 'moneyless':
      break;
    case 'label_conflict':
      report('label_conflict', { resource: resourceSubject(reading.ref), label: reading.label });
      break;
    case 'unreadable_money':
      report('amount', { resource: resourceSubject(reading.ref), field: reading.field });
      break;
    case 'snapshot':
      if (reading.versionAhead) {
        report('version_ahead', { resource: resourceSubject(reading.ref) });
      }
      if (reading.labelMismatch !== undefined) {
        report('link', {
          resource: resourceSubject(reading.ref),
          label: reading.labelMismatch,
        });
      }
      break;
  }
  return findings;
}
