/** A match as JSON, for programs. */
import { namedOrderId } from '../ledger/domain/orderKey.ts';
import { factsOf } from './facts.ts';
import type { Hit } from './search.ts';

export function matchJson(hit: Hit) {
  const { kind, id, state, amounts, orderKey, about, at } = factsOf(hit);
  return {
    kind,
    id,
    state,
    amounts: amounts.map(({ amountMinor, currency }) => ({ amount: amountMinor, currency })),
    order_id: namedOrderId(orderKey ?? null) ?? null,
    about: about ?? null,
    at: at?.toISOString() ?? null,
  };
}
