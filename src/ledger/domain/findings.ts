/**
 * Findings: discrepancies between ledger and service, or inside either. A class and a subject identify
 * a finding; at most one is open for each pair.
 *
 * Findings about a resource follow its merged state: they open and close as the state changes. Findings
 * about an event stay open until a person handles the event.
 */
import { isOwnerContradicted } from './epochs.ts';
import type { EventReading, InboxEvent } from './event.ts';
import { dueMinor, type ResourceState } from './merge.ts';
import type { Merged } from './mergeObservations.ts';
import { type ResourceRef, refKey } from './snapshot.ts';

/** The meaning of each class, for people. */
export const FINDING_CLASSES = {
  unknown_status: 'The service sent a status that this version does not know.',
  status_conflict:
    'The history has an impossible status transition, or the service contradicts it.',
  amount: 'An amount cannot be read, or bodies from the service contradict each other about money.',
  currency: 'A refund or dispute is in a different currency than its payment.',
  over_capture: 'More was captured than the amount of the payment.',
  capture_revoked:
    'The service reported captured money and then that the payment failed; the capture was reversed.',
  over_refund: 'More of a payment was refunded, or is being refunded, than it captured.',
  double_paid: 'Two payments of one order were paid, and neither was returned in full.',
  double_loss: 'Refunds and disputes of a payment together exceed what it captured.',
  dispute_and_refund: 'A dispute and a refund of one payment are both undecided.',
  missing_local: 'The service has something that could not be added to the ledger.',
  stale_local: 'The service lists a different state, and a retrieve did not update the ledger.',
  totals:
    'Counts of the service and of the ledger differ, and a comparison row by row did not repair it.',
  list_unstable: 'A list of the service kept changing, or misses something that the service has.',
  filter_ignored: 'The service ignores the created-time filter of a list.',
  watermark_ahead:
    "A list counted as read up to a time ahead of the service's clock, so later changes were not compared.",
  service_unusable:
    'The payment service does not offer this list, or refuses it. Nothing in it is compared until that changes.',
  orphan: 'Another resource mentions this, and the service has not known it for a day.',
  missing_remote: 'The ledger has something that is missing at the service.',
  overdue: 'Money has been in transit for too long.',
  authorization_expiring:
    'An authorization is about to expire, or has expired, and was not captured.',
  version_ahead: 'The version of a body is far in the future and was not used.',
  link: 'One label of an event names a different kind of resource than its ids and its other label.',
  payment_conflict:
    'Bodies of a refund or dispute name different payments; it is filed under the latest one.',
  label_conflict:
    'The labels of an event name a different kind of resource than its ids; it was not applied.',
  event_id_reused: 'Two different bodies arrived under one event id; the first was applied.',
  foreign_merchant:
    'A signed event, the object in it, or a resource in a list names another merchant account; it was not applied.',
  foreign_profile:
    'The service sent an object of another business profile than PAYMENTS_PROFILE_ID; it was applied.',
  unreadable_event: 'A signed body has no usable envelope; it is stored and was not applied.',
  event_ignored: 'An event names no payment, refund, dispute or payout; it was not applied.',
  event_repeated:
    'An event arrived again long after it was applied, when retention had removed its row; the ledger did not change.',
  event_dead: 'An event could not be applied in the allowed number of attempts.',
} as const;
export type FindingClass = keyof typeof FINDING_CLASSES;

/** The meaning of a class; empty for a class of a later version. */
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

/** Classes about an event that explain why it was persisted and posted nothing. */
export const NOT_APPLIED_CLASSES = [
  'unreadable_event',
  'foreign_merchant',
  'event_ignored',
  'label_conflict',
  'amount',
] as const satisfies readonly FindingClass[];

/** A finding to record. */
export interface Finding<Class extends FindingClass = FindingClass> {
  readonly class: Class;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What opens or closes a finding. */
export interface Caused {
  /** Inbox number of the event; without one, no event did. */
  readonly causedBy?: number | undefined;
}

type StateFinding = Finding<(typeof STATE_FINDING_CLASSES)[number]>;

export function eventSubject(webhookEventId: number): string {
  return `event:${webhookEventId}`;
}

/** Findings that the merged state of a resource shows now. */
export function stateFindings(ref: ResourceRef, { state, contradiction }: Merged): StateFinding[] {
  const subject = refKey(ref);
  const findings: StateFinding[] = [];
  if (state?.uncertainties.includes('unknown_status')) {
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
  const isAmountContradicted =
    contradiction !== undefined &&
    !isStatusContradicted &&
    !(state && isOwnerContradicted(contradiction, state));
  if (isAmountContradicted || state?.uncertainties.includes('conflicting_amounts')) {
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

/** Only payments capture money. */
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
  if (event.isRepeated) report('event_repeated', {});
  switch (reading.outcome) {
    case 'no_envelope':
      report('unreadable_event', {});
      break;
    case 'foreign_merchant':
      report('foreign_merchant', { merchantId: reading.merchantId, namedIn: reading.namedIn });
      break;
    case 'ignored':
      report('event_ignored', { contentType: reading.contentType });
      break;
    case 'moneyless':
      break;
    case 'label_conflict':
      report('label_conflict', { resource: refKey(reading.ref), label: reading.label });
      break;
    case 'unreadable_money':
      report('amount', { resource: refKey(reading.ref), field: reading.field });
      break;
    case 'snapshot':
      if (reading.versionAhead) {
        report('version_ahead', { resource: refKey(reading.ref) });
      }
      if (reading.labelMismatch !== undefined) {
        report('link', {
          resource: refKey(reading.ref),
          label: reading.labelMismatch,
        });
      }
      break;
  }
  return findings;
}
