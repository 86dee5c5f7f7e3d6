/**
 * The service's books: every change of a resource goes through here.
 *
 * 1. A change and its event are one transaction.
 * 2. A resource is changed under the lock of its row; a refund or dispute is made under its payment's.
 */
import type { ResourceKind } from '../contract/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import type { CustomerState } from './domain/customer.ts';
import { idOf, type Resource, type StateOf } from './domain/resource.ts';
import { isoTime } from './domain/time.ts';
import type { FaultBoard } from './faults/board.ts';
import { holdCustomer, insertCustomer } from './store/customers.ts';
import {
  insertResource,
  keepPast,
  lockResource,
  type RefundTotals,
  readRefundTotals,
  updateResource,
} from './store/resources.ts';
import { emitEvent, type WebhookTarget } from './webhooks/emit.ts';

/** What may be done within one transaction. */
export interface Entry {
  readonly nowMs: number;
  /** The same transaction, at another time. */
  at(nowMs: number): Entry;
  lock<Kind extends ResourceKind>(kind: Kind, id: string): Promise<StateOf[Kind] | undefined>;
  refundTotals(paymentId: string): Promise<RefundTotals>;
  /** A customer, who is not deleted before the transaction ends; undefined when there is none. */
  customer(customerId: string): Promise<CustomerState | undefined>;
  /** @returns false when the id is taken; nothing was written then */
  insertCustomer(state: CustomerState): Promise<boolean>;
  /** @returns false when the id is taken; nothing was written then */
  insert(resource: Resource): Promise<boolean>;
  save(resource: Resource): Promise<void>;
}

export interface Books {
  /** Runs `work` in one transaction, at the time of the clock. */
  write<T>(work: (entry: Entry, tx: Queryable) => Promise<T>): Promise<T>;
}

export interface BooksParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly faults: FaultBoard;
  readonly merchantId: string;
  readonly target: () => WebhookTarget;
  /** Told after a commit that left something to send or to do later. */
  readonly onChange: () => void;
}

export function createBooks(parts: BooksParts): Books {
  const { db, clock, faults } = parts;
  return {
    write: async (work) => {
      const nowMs = clock.nowMs();
      const result = await db.transaction((tx) => work(createEntry(tx, nowMs, parts), tx));
      parts.onChange();
      return result;
    },
  };

  function createEntry(tx: Queryable, nowMs: number, { merchantId, target }: BooksParts): Entry {
    const emit = (resource: Resource): Promise<boolean> =>
      emitEvent(tx, resource, nowMs, { merchantId, faults, target });
    return {
      nowMs,
      at: (otherMs) => createEntry(tx, otherMs, parts),
      lock: async <Kind extends ResourceKind>(kind: Kind, id: string) =>
        (await lockResource(tx, kind, id))?.state as StateOf[Kind] | undefined,
      refundTotals: (paymentId) => readRefundTotals(tx, paymentId),
      customer: (customerId) => holdCustomer(tx, customerId),
      insertCustomer: (state) => insertCustomer(tx, state),
      insert: async (resource) => {
        const stamped = coarsen(resource, faults.current().lists.tick_ms);
        const isNew = await insertResource(tx, stamped);
        if (isNew) await emit(stamped);
        return isNew;
      },
      save: async (resource) => {
        const { lists } = faults.current();
        const stamped = coarsen(resource, lists.tick_ms);
        if (lists.replica_lag_ms > 0) {
          const { kind } = stamped;
          await keepPast(tx, { kind, id: idOf(stamped), validUntil: isoTime(nowMs) });
        }
        await updateResource(tx, stamped);
        await emit(stamped);
      },
    };
  }
}

/** Cuts times to a multiple of `tickMs`, for the fault of equal times. */
function coarsen(resource: Resource, tickMs: number): Resource {
  if (tickMs === 1) return resource;
  const cut = (time: string): string => isoTime(Math.floor(Date.parse(time) / tickMs) * tickMs);
  const { created, modified_at } = resource.state;
  const state = { ...resource.state, created: cut(created), modified_at: cut(modified_at) };
  return { kind: resource.kind, state } as Resource;
}
