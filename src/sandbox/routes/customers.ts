/** Routes for customers. service-interface.md §4.4 and §4.10. */
import { ENDPOINTS } from '../../contract/index.ts';
import {
  type CustomerState,
  createCustomer,
  redactCustomer,
  updateCustomer,
} from '../domain/customer.ts';
import { accept, type Decision, rejectUnknown } from '../domain/decision.ts';
import { isoTime } from '../domain/time.ts';
import { randomId } from '../ids.ts';
import type { Services } from '../services.ts';
import { alreadyExists } from './existing.ts';
import type { Handlers } from './handler.ts';
import { pageBounds, pageOf } from './pageOf.ts';

type Customers =
  | 'createCustomer'
  | 'updateCustomer'
  | 'retrieveCustomer'
  | 'deleteCustomer'
  | 'listCustomers';

const SHOWN_ON_CREATE = Object.keys(ENDPOINTS.createCustomer.response.shape);

export const CUSTOMER_HANDLERS: Handlers<Customers> = {
  createCustomer: async ({ input }, services) => {
    const { customer_id: customerId = randomId('cus_'), ...fields } = input;
    const state = createCustomer(customerId, fields, services.shownClock.nowMs());
    const isNew = await services.store.insertCustomer(state);
    if (!isNew) {
      return alreadyExists(services, `A customer with customer_id ${customerId} exists already`);
    }
    const shown = Object.entries(state).filter(([field]) => SHOWN_ON_CREATE.includes(field));
    return accept(Object.fromEntries(shown));
  },

  updateCustomer: ({ params, input }, services) =>
    changeCustomer(services, params.customer_id, (state) => {
      const changed = updateCustomer(state, input);
      return { changed, response: changed };
    }),

  retrieveCustomer: async ({ params }, { store }) => {
    const found = await store.readCustomer(params.customer_id);
    return found ? accept(found) : unknownCustomer(params.customer_id);
  },

  deleteCustomer: ({ params }, services) =>
    changeCustomer(services, params.customer_id, (state) => ({
      changed: redactCustomer(state),
      deletedAt: isoTime(services.shownClock.nowMs()),
      response: {
        customer_id: state.customer_id,
        customer_deleted: true,
        address_deleted: true,
        // No payment methods are stored, so none remain.
        payment_methods_deleted: true,
      },
    })),

  listCustomers: async ({ input }, { store }) => {
    const bounds = pageBounds(input);
    const rows = await store.listCustomers({ ...bounds, customerId: input.customer_id });
    return pageOf(rows, await store.countCustomers(input.customer_id), bounds.offset);
  },
};

interface CustomerChange {
  readonly changed: CustomerState;
  readonly deletedAt?: string;
  readonly response: object;
}

/** Applies a rule to a customer under its lock. */
function changeCustomer(
  { store }: Services,
  customerId: string,
  rule: (state: CustomerState) => CustomerChange,
): Promise<Decision<object>> {
  return store.transaction(async (tx) => {
    const state = await tx.lockCustomer(customerId);
    if (state === undefined) return unknownCustomer(customerId);
    const { changed, deletedAt, response } = rule(state);
    await tx.updateCustomer(changed, deletedAt);
    return accept(response);
  });
}

function unknownCustomer(customerId: string): Decision<never> {
  return rejectUnknown(`No customer has the id ${customerId}`);
}
