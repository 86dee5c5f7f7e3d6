/**
 * What the service shows of a resource, where its bodies say less or something else than the books.
 *
 * *Thin*: five fields.
 *
 * 1. Pure. What is stored stays as it is: the truth that tests compare with is exact.
 * 2. A resource is shown the same way on every channel, but for what a channel's own faults leave out.
 */
import { idOf, type Resource, type Shown, show } from '../domain/resource.ts';
import type { Dice } from './dice.ts';
import type { Faults, LackedField } from './settings.ts';

/** The faults and their dice, as a board holds them. */
export interface Spoiled {
  readonly faults: Faults;
  readonly dice: Dice;
}

/** @param subject names the event the same way in every run */
export function webhookView(resource: Resource, { faults, dice }: Spoiled, subject: string): Shown {
  const shown = answerView(resource, { faults, dice });
  const { thin, without } = faults.webhooks;
  const isThin = dice('thin', subject) < thin;
  return lacking(isThin ? pick(shown, THIN_EVENT[resource.kind]) : shown, without);
}

export function listView(resource: Resource, { faults, dice }: Spoiled): Shown {
  const shown = answerView(resource, { faults, dice });
  const { thin, without } = faults.lists;
  return lacking(thin ? pick(shown, THIN_ROW[resource.kind]) : shown, without);
}

export function retrieveView(resource: Resource, { faults, dice }: Spoiled): Shown {
  return lacking(answerView(resource, { faults, dice }), faults.retrieves.without);
}

/** The answer of what changed the resource, and what the other views begin with. */
export function answerView(resource: Resource, { faults, dice }: Spoiled): Shown {
  const shown = show(resource);
  if (resource.kind === 'dispute' && faults.dispute_amount_as_text) {
    return { ...shown, amount: String(resource.state.amount) };
  }
  if (resource.kind !== 'payment') return shown;
  const isEarly = dice('early_received', idOf(resource)) < faults.payments.early_received;
  if (!isEarly) return shown;
  const { status, amount, net_amount: netAmount = amount } = resource.state;
  if (status === 'processing') return { ...shown, amount_received: netAmount };
  return status === 'failed' ? { ...shown, amount_received: null } : shown;
}

const THIN_EVENT: Readonly<Record<Resource['kind'], readonly string[]>> = {
  payment: ['payment_id', 'merchant_id', 'status', 'amount', 'currency'],
  refund: ['refund_id', 'payment_id', 'status', 'amount', 'currency'],
  dispute: ['dispute_id', 'payment_id', 'dispute_status', 'amount', 'currency'],
  payout: ['payout_id', 'merchant_id', 'status', 'amount', 'currency'],
};

/** The fields of a list item. service-interface.md §2.1. */
const THIN_ROW: Readonly<Record<Resource['kind'], readonly string[]>> = {
  payment: ['payment_id', 'status', 'amount', 'currency', 'created'],
  refund: ['refund_id', 'status', 'amount', 'currency', 'created'],
  dispute: ['dispute_id', 'dispute_status', 'amount', 'currency', 'created'],
  payout: ['payout_id', 'status', 'amount', 'currency', 'created'],
};

const FIELD_OF: Readonly<Record<LackedField, string>> = {
  created: 'created',
  version: 'modified_at',
};

function pick(shown: Shown, fields: readonly string[]): Shown {
  return Object.fromEntries(fields.map((field) => [field, shown[field]]));
}

function lacking(shown: Shown, lacked: readonly LackedField[]): Shown {
  const left = new Set(lacked.map((field) => FIELD_OF[field]));
  return Object.fromEntries(Object.entries(shown).filter(([field]) => !left.has(field)));
}
