/**
 * The bodies of resources in webhooks, lists, retrieves and responses, with the active faults applied.
 *
 * *Short*: with five fields.
 *
 * 1. Pure. The stored resource does not change, so tests can compare with it.
 * 2. A resource looks the same in every channel, except for the faults of that channel.
 */
import { idOf, type Resource, type Shown, show } from '../domain/resource.ts';
import type { SeededRandom } from './seededRandom.ts';
import type { Faults, OmittableField } from './settings.ts';

/** The active faults and their random source. */
export interface FaultContext {
  readonly faults: Faults;
  readonly random: SeededRandom;
}

/** @param subject names the event the same way in every run */
export function webhookView(
  resource: Resource,
  { faults, random }: FaultContext,
  subject: string,
): Shown {
  const shown = responseView(resource, { faults, random });
  const { short_objects: rate, omit_fields: omitted } = faults.webhooks;
  const isShort = random('short_objects', subject) < rate;
  return omit(isShort ? pick(shown, SHORT_OBJECT_FIELDS[resource.kind]) : shown, omitted);
}

export function listView(resource: Resource, { faults, random }: FaultContext): Shown {
  const shown = responseView(resource, { faults, random });
  const { short_rows: isShort, omit_fields: omitted } = faults.lists;
  return omit(isShort ? pick(shown, SHORT_ROW_FIELDS[resource.kind]) : shown, omitted);
}

export function retrieveView(resource: Resource, { faults, random }: FaultContext): Shown {
  return omit(responseView(resource, { faults, random }), faults.retrieves.omit_fields);
}

/** The response to a request that changed the resource; the other views are derived from it. */
export function responseView(resource: Resource, { faults, random }: FaultContext): Shown {
  const shown = show(resource);
  if (resource.kind === 'dispute' && faults.dispute_amount_as_text) {
    return { ...shown, amount: String(resource.state.amount) };
  }
  if (resource.kind !== 'payment') return shown;
  const { early_received: earlyRate, no_received: noneRate } = faults.payments;
  const isChosen = (fault: string, rate: number) => random(fault, idOf(resource)) < rate;
  const { status, amount, net_amount: netAmount = amount } = resource.state;
  switch (status) {
    case 'processing':
      return isChosen('early_received', earlyRate)
        ? { ...shown, amount_received: netAmount }
        : shown;
    case 'failed':
      return isChosen('early_received', earlyRate) ? { ...shown, amount_received: null } : shown;
    case 'succeeded':
      return isChosen('no_received', noneRate) ? { ...shown, amount_received: null } : shown;
    default:
      return shown;
  }
}

const SHORT_OBJECT_FIELDS: Readonly<Record<Resource['kind'], readonly string[]>> = {
  payment: ['payment_id', 'merchant_id', 'status', 'amount', 'currency'],
  refund: ['refund_id', 'payment_id', 'status', 'amount', 'currency'],
  dispute: ['dispute_id', 'payment_id', 'dispute_status', 'amount', 'currency'],
  payout: ['payout_id', 'merchant_id', 'status', 'amount', 'currency'],
};

/** The fields of a list item. service-interface.md §2.1. */
const SHORT_ROW_FIELDS: Readonly<Record<Resource['kind'], readonly string[]>> = {
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
