/** What the four kinds of resources have in common, and the events about them. */
import {
  EVENT_REPORTS,
  EVENT_TYPES,
  type EventType,
  normalizeStatus,
  type ResourceKind,
} from '../../contract/index.ts';
import { type DisputeState, runDisputeDue } from './dispute.ts';
import { type PaymentState, runPaymentDue } from './payment.ts';
import { type PayoutState, runPayoutDue } from './payout.ts';
import { type RefundState, runRefundDue } from './refund.ts';

export interface StateOf {
  readonly payment: PaymentState;
  readonly refund: RefundState;
  readonly dispute: DisputeState;
  readonly payout: PayoutState;
}

/** A resource with its kind, which decides the type of its state. */
export type Resource = {
  readonly [Kind in ResourceKind]: { readonly kind: Kind; readonly state: StateOf[Kind] };
}[ResourceKind];

/** The columns by which a resource is found. Times in ISO 8601. */
export interface SearchFields {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly status: string;
  readonly currency: string;
  readonly customerId: string | undefined;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly dueAt: string | undefined;
}

export function searchFields(resource: Resource): SearchFields {
  const { state } = resource;
  return {
    id: idOf(resource),
    parentId:
      resource.kind === 'refund' || resource.kind === 'dispute'
        ? resource.state.payment_id
        : undefined,
    status: state.status,
    currency: state.currency,
    customerId: 'customer_id' in state ? state.customer_id : undefined,
    createdAt: state.created,
    modifiedAt: state.modified_at,
    dueAt: state.hidden.due?.at,
  };
}

export function idOf(resource: Resource): string {
  switch (resource.kind) {
    case 'payment':
      return resource.state.payment_id;
    case 'refund':
      return resource.state.refund_id;
    case 'dispute':
      return resource.state.dispute_id;
    case 'payout':
      return resource.state.payout_id;
  }
}

/** Runs the resource's timer. */
export function runDue(resource: Resource, nowMs: number): Resource {
  switch (resource.kind) {
    case 'payment':
      return { kind: 'payment', state: runPaymentDue(resource.state, nowMs) };
    case 'refund':
      return { kind: 'refund', state: runRefundDue(resource.state, nowMs) };
    case 'dispute':
      return { kind: 'dispute', state: runDisputeDue(resource.state, nowMs) };
    case 'payout':
      return { kind: 'payout', state: runPayoutDue(resource.state, nowMs) };
  }
}

/**
 * The type of the event that a resource in its current state causes; undefined for none.
 * service-interface.md §6.4.
 */
export function eventTypeOf({ kind, state }: Resource): EventType | undefined {
  // An acceptance sends no webhook; the processor's later report of it does.
  if (kind === 'dispute' && state.hidden.due?.what === 'report') return undefined;
  return TYPE_BY_STATUS.get(`${kind}/${normalizeStatus(kind, state.status)}`);
}

const TYPE_BY_STATUS = new Map<string, EventType>(
  EVENT_TYPES.flatMap((type) => {
    const { kind, statuses } = EVENT_REPORTS[type];
    return kind === undefined
      ? []
      : statuses.map((status): [string, EventType] => [`${kind}/${status}`, type]);
  }),
);

export interface Shown {
  readonly [field: string]: unknown;
}

/** A resource as retrievals, lists and events show it: no secret, and nothing hidden. */
export function show({ kind, state }: Resource): Shown {
  const { hidden, ...shown } = state;
  if (kind !== 'payout') return shown;
  const fields: Shown = shown;
  const empty = PAYOUT_NULLABLE.map((name) => [name, fields[name] ?? null]);
  return { ...fields, ...Object.fromEntries(empty) };
}

/**
 * Fields that a payout shows as null rather than not at all.
 * service-interface.md §2.7, where null is allowed.
 */
const PAYOUT_NULLABLE = [
  'billing',
  'metadata',
  'error_message',
  'error_code',
  'connector_transaction_id',
  'priority',
  'attempts',
  'payout_link',
  'unified_code',
  'unified_message',
  'payout_method_id',
] as const;
