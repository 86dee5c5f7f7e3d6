/**
 * Writes resources: every change of a resource goes through here.
 *
 * 1. A change and its event are one transaction.
 * 2. A resource is changed under the lock of its row; a refund or dispute is created under its
 *    payment's.
 * 3. The response shows what was written: the fault `tick_ms` rounds times before they are stored.
 * 4. Rules and bodies use the clock that the service shows, which a fault may set wrong. Due times and
 *    lagging views use the sandbox's own clock.
 */
import type { ResourceKind } from '../contract/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { CustomerState } from './domain/customer.ts';
import { idOf, type Resource, type StateOf } from './domain/resource.ts';
import { isoTime } from './domain/time.ts';
import type { ActiveFaults } from './faults/activeFaults.ts';
import type { ListFaults } from './faults/settings.ts';
import type { RefundTotals } from './store/resources.ts';
import type { Statements, Store } from './store/store.ts';
import { emitEvent, type WebhookTarget } from './webhooks/emit.ts';

/** What a caller can do within one transaction. */
export interface ResourceTransaction {
  /** By the clock that the service shows. */
  readonly nowMs: number;
  /** The same transaction, at another time by the sandbox's own clock. */
  at(ownMs: number): ResourceTransaction;
  lock<Kind extends ResourceKind>(kind: Kind, id: string): Promise<StateOf[Kind] | undefined>;
  refundTotals(paymentId: string): Promise<RefundTotals>;
  /** Reads a customer and prevents its deletion until the transaction ends. */
  customer(customerId: string): Promise<CustomerState | undefined>;
  /** @returns false when the id exists; nothing is written then */
  insertCustomer(state: CustomerState): Promise<boolean>;
  /** @returns what was written; undefined when the id exists, and nothing was */
  insert<Made extends Resource>(resource: Made): Promise<Made | undefined>;
  /** @returns what was written */
  save<Changed extends Resource>(resource: Changed): Promise<Changed>;
}

export interface ResourceWriter {
  /** Runs `work` in one transaction, at the time of the clock. */
  write<T>(work: (transaction: ResourceTransaction, tx: Statements) => Promise<T>): Promise<T>;
}

export interface ResourceWriterParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly faults: ActiveFaults;
  readonly merchantId: string;
  readonly target: () => WebhookTarget;
  /** Called after a commit, which may have left something to send or to do later. */
  readonly onChange: () => void;
}

export function createResourceWriter(parts: ResourceWriterParts): ResourceWriter {
  const { store, clock, faults } = parts;
  return {
    write: async (work) => {
      const nowMs = clock.nowMs();
      const result = await store.transaction((tx) => work(createTransaction(tx, nowMs, parts), tx));
      parts.onChange();
      return result;
    },
  };

  function createTransaction(
    tx: Statements,
    ownMs: number,
    { merchantId, target }: ResourceWriterParts,
  ): ResourceTransaction {
    const { clock_offset_ms: offsetMs } = faults.current();
    const recordedAt = isoTime(ownMs);
    const emit = (resource: Resource): Promise<void> =>
      emitEvent(tx, resource, { ownMs, shownMs: ownMs + offsetMs }, { merchantId, faults, target });
    return {
      nowMs: ownMs + offsetMs,
      at: (otherMs) => createTransaction(tx, otherMs, parts),
      lock: async <Kind extends ResourceKind>(kind: Kind, id: string) => {
        const found = await tx.lockResource(kind, id);
        return found && (shiftDue(found, offsetMs).state as StateOf[Kind]);
      },
      refundTotals: (paymentId) => tx.readRefundTotals(paymentId),
      customer: (customerId) => tx.lockCustomerShared(customerId),
      insertCustomer: (state) => tx.insertCustomer(state),
      insert: async (resource) => {
        const { lists } = faults.current();
        const stamped = coarsen(shiftDue(resource, -offsetMs), ['created', 'modified_at'], lists);
        if (!(await tx.insertResource(stamped, recordedAt))) return undefined;
        await emit(stamped);
        return stamped;
      },
      save: async (resource) => {
        const { lists, retrieves } = faults.current();
        const stamped = coarsen(shiftDue(resource, -offsetMs), ['modified_at'], lists);
        if (lists.replica_lag_ms > 0 || retrieves.lag_ms > 0) {
          // Valid until the instant at which the new state begins, so that exactly one is valid.
          await tx.insertPastResource({
            kind: stamped.kind,
            id: idOf(stamped),
            validUntil: recordedAt,
          });
        }
        await tx.updateResource(stamped, recordedAt);
        await emit(stamped);
        return stamped;
      },
    };
  }
}

/** Converts a due time between the shown clock and the sandbox's own. */
function shiftDue<Due extends Resource>(resource: Due, byMs: number): Due {
  const { hidden } = resource.state;
  if (byMs === 0 || hidden.due === undefined) return resource;
  const due = { ...hidden.due, at: isoTime(Date.parse(hidden.due.at) + byMs) };
  return { ...resource, state: { ...resource.state, hidden: { ...hidden, due } } };
}

/** Rounds times down to a multiple of `tick_ms`, for the fault of equal times. */
function coarsen<Stamped extends Resource>(
  resource: Stamped,
  names: readonly ('created' | 'modified_at')[],
  { tick_ms: tickMs }: ListFaults,
): Stamped {
  if (tickMs === 1) return resource;
  const cut = (time: string): string => isoTime(Math.floor(Date.parse(time) / tickMs) * tickMs);
  const times = Object.fromEntries(names.map((name) => [name, cut(resource.state[name])]));
  return { ...resource, state: { ...resource.state, ...times } };
}
