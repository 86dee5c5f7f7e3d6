/**
 * The bodies of resources in webhooks, lists, retrieves and responses, with the active faults applied.
 *
 * *Short*: with five fields.
 *
 * 1. Pure. The stored resource does not change, so tests can compare with it.
 * 2. A resource looks the same in every channel, except for the faults of that channel.
 */
import type { PaymentStatus, ResourceKind } from '../../contract/index.ts';
import type { PaymentState } from '../domain/payment.ts';
import { idOf, type Resource, type Shown, show } from '../domain/resource.ts';
import type { SeededRandom } from './seededRandom.ts';
import type { Faults, NestedForm, OmittableField } from './settings.ts';

/** The active faults and their random source. */
export interface FaultContext {
  readonly faults: Faults;
  readonly random: SeededRandom;
}

/** @param subject names the event the same way in every run */
export function webhookView(resource: Resource, context: FaultContext, subject: string): Shown {
  const { faults, random } = context;
  const { short_objects: shortRate, plain_ids: plainRate } = faults.webhooks;
  const isShort = random('short_objects', subject) < shortRate;
  const view = channelView(resource, context, {
    ...faults.webhooks,
    fields: isShort ? SHORT_OBJECT_FIELDS[resource.kind] : undefined,
  });
  return random('plain_ids', subject) < plainRate ? withPlainId(resource.kind, view) : view;
}

export function listView(resource: Resource, context: FaultContext): Shown {
  const { lists } = context.faults;
  const fields = lists.short_rows ? SHORT_ROW_FIELDS[resource.kind] : undefined;
  return channelView(resource, context, { ...lists, fields });
}

export function retrieveView(resource: Resource, context: FaultContext): Shown {
  return channelView(resource, context, context.faults.retrieves);
}

/** The response to a request that changed the resource. */
export function responseView(resource: Resource, context: FaultContext): Shown {
  return channelView(resource, context, {});
}

/** What a channel makes of the fields of a body. */
interface Channel {
  /** All others are left out. */
  readonly fields?: readonly string[] | undefined;
  readonly omit_fields?: readonly OmittableField[];
  readonly null_fields?: readonly string[];
}

function channelView(
  resource: Resource,
  { faults, random }: FaultContext,
  { fields, omit_fields: omitted = [], null_fields: nulls = [] }: Channel,
): Shown {
  const shown = habitualView(resource, { faults, random });
  const view = nullify(omit(fields ? pick(shown, fields) : shown, omitted), nulls);
  return faults.family_fields ? withFamilyFields(resource.kind, view) : view;
}

/** The resource with the values that services of the family show, under the names of the contract. */
function habitualView(resource: Resource, { faults, random }: FaultContext): Shown {
  const shown = show(resource);
  if (resource.kind === 'dispute' && faults.dispute_amount_as_text) {
    return { ...shown, amount: String(resource.state.amount) };
  }
  if (resource.kind !== 'payment') return shown;
  const { payments } = faults;
  const isChosen = (fault: PaymentShare) => random(fault, idOf(resource)) < payments[fault];
  const habits = PAYMENT_HABITS.filter(
    ({ fault, status }) => status === resource.state.status && isChosen(fault),
  );
  const changed = habits.map(({ changes }) => changes(dueAmountOf(resource.state)));
  const nested = payments.nested && nestedFields(payments.nested, resource.state);
  return Object.assign({ ...shown }, ...changed, nested);
}

type PaymentShare = {
  [Fault in keyof Faults['payments']]-?: Faults['payments'][Fault] extends number ? Fault : never;
}[keyof Faults['payments']];

/** What payments with a status show while a fault is on. */
const PAYMENT_HABITS: readonly {
  readonly fault: PaymentShare;
  readonly status: PaymentStatus;
  /** @param due what the customer pays */
  readonly changes: (due: number) => Shown;
}[] = [
  { fault: 'early_received', status: 'processing', changes: (due) => ({ amount_received: due }) },
  { fault: 'early_received', status: 'failed', changes: () => ({ amount_received: null }) },
  { fault: 'no_received', status: 'succeeded', changes: () => ({ amount_received: null }) },
  {
    fault: 'customer_action',
    status: 'requires_action',
    changes: () => ({ status: 'requires_customer_action' }),
  },
  { fault: 'unknown_status', status: 'processing', changes: () => ({ status: 'pending' }) },
  { fault: 'failed_capturable', status: 'failed', changes: (due) => ({ amount_capturable: due }) },
];

function dueAmountOf({ amount, net_amount: netAmount = amount }: PaymentState): number {
  return netAmount;
}

/** Arrays inside a payment; the parts that they name are those of the payment's own amounts. */
function nestedFields(form: NestedForm, payment: PaymentState): Shown {
  const { payment_id: paymentId, amount, currency, status, created } = payment;
  const one = { payment_id: paymentId, amount, currency, status, created };
  const arrays = {
    refunds: [{ ...one, refund_id: `${paymentId}_refund`, status: 'succeeded' }],
    disputes: [{ ...one, dispute_id: `${paymentId}_dispute`, dispute_status: 'dispute_lost' }],
    attempts: [{ ...one, attempt_id: `${paymentId}_1` }],
    captures: [{ ...one, capture_id: `${paymentId}_1_1`, capture_sequence: 1 }],
  };
  const shown = Object.entries(arrays).map(([name, filled]) => [
    name,
    form === 'filled' ? filled : form === 'empty' ? [] : null,
  ]);
  return { ...Object.fromEntries(shown), payment_method_data: payment.payment_method ?? null };
}

const SHORT_OBJECT_FIELDS: Readonly<Record<ResourceKind, readonly string[]>> = {
  payment: ['payment_id', 'merchant_id', 'status', 'amount', 'currency'],
  refund: ['refund_id', 'payment_id', 'status', 'amount', 'currency'],
  dispute: ['dispute_id', 'payment_id', 'dispute_status', 'amount', 'currency'],
  payout: ['payout_id', 'merchant_id', 'status', 'amount', 'currency'],
};

/** The fields of a list item. service-interface.md §2.1. */
const SHORT_ROW_FIELDS: Readonly<Record<ResourceKind, readonly string[]>> = {
  payment: ['payment_id', 'status', 'amount', 'currency', 'created'],
  refund: ['refund_id', 'status', 'amount', 'currency', 'created'],
  dispute: ['dispute_id', 'dispute_status', 'amount', 'currency', 'created'],
  payout: ['payout_id', 'status', 'amount', 'currency', 'created'],
};

const FIELD_OF: Readonly<Record<OmittableField, string>> = {
  created: 'created',
  version: 'modified_at',
};

function pick(shown: Shown, fields: readonly string[]): Shown {
  return Object.fromEntries(fields.map((field) => [field, shown[field]]));
}

function omit(shown: Shown, omitted: readonly OmittableField[]): Shown {
  const names = new Set(omitted.map((field) => FIELD_OF[field]));
  return Object.fromEntries(Object.entries(shown).filter(([field]) => !names.has(field)));
}

/** Only fields that the body has: a service shows no others. */
function nullify(shown: Shown, names: readonly string[]): Shown {
  const nulls = names.filter((name) => shown[name] !== undefined).map((name) => [name, null]);
  return { ...shown, ...Object.fromEntries(nulls) };
}

/** The family's names of the contract's fields; undefined for a field that the family does not have. */
const FAMILY_NAMES: Readonly<Record<ResourceKind, Readonly<Record<string, string | undefined>>>> = {
  payment: { modified_at: 'updated', captured_at: undefined, cancelled_at: undefined },
  refund: { created: 'created_at', modified_at: 'updated_at' },
  dispute: {
    created: 'created_at',
    modified_at: undefined,
    status: undefined,
    evidence_submitted_at: undefined,
  },
  payout: { modified_at: undefined },
};

function withFamilyFields(kind: ResourceKind, shown: Shown): Shown {
  const names = FAMILY_NAMES[kind];
  const renamed = Object.entries(shown).flatMap(([name, value]) => {
    const familyName = name in names ? names[name] : name;
    return familyName === undefined ? [] : [[familyName, value]];
  });
  return Object.fromEntries(renamed);
}

function withPlainId(kind: ResourceKind, shown: Shown): Shown {
  if (kind === 'payment') return shown;
  const { [`${kind}_id`]: id, ...others } = shown;
  return { id, ...others };
}
