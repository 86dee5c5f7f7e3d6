/** Registers the expected amount of an order for a shop. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { type Registration, registerExpectation } from '../ledger/registerExpectation.ts';
import type { NewExpectation } from '../ledger/store/expectations.ts';
import type { Database } from '../platform/db/database.ts';

export function registerOrderAs(
  { db }: { readonly db: Database },
  actor: Actor,
  wanted: Omit<NewExpectation, 'registeredBy'>,
): Promise<Registration> {
  return db.transaction(async (tx) => {
    const registration = await registerExpectation(tx, { ...wanted, registeredBy: actor.name });
    if (registration !== 'unchanged') {
      const { orderId, orderKey, amountMinor: amount, currency } = wanted;
      await recordAudit(tx, {
        actor,
        action: 'order.register',
        subject: { kind: 'order', id: orderId },
        orderKey,
        detail: { registration, amount, currency },
      });
    }
    return registration;
  });
}
