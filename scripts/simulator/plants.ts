/**
 * Bugs to plant: mistakes that a maintainer could make, each of a kind that only some interleavings show.
 *
 * 1. A plant is a change of the program's source. It is made while the module is loaded, never in a file.
 * 2. Its `code` occurs once, regardless of white space. Where the code has changed, nothing runs.
 */

export interface Plant {
  readonly name: string;
  /** What the program guarantees without it. */
  readonly guarantee: string;
  /** From the root of the checkout. */
  readonly file: string;
  readonly code: string;
  readonly mistaken: string;
}

export const PLANTS: readonly Plant[] = [
  {
    name: 'lost update',
    guarantee: 'the state of a resource is the fold of all its snapshots, also of late ones',
    file: 'src/ledger/applySnapshots.ts',
    code: 'snapshots: snapshotsByRef.get(key) ?? [],',
    mistaken: 'snapshots: (snapshotsByRef.get(key) ?? []).slice(1),',
  },
  {
    name: 'missing lock',
    guarantee: 'an order is locked while its totals are derived from its parts',
    file: 'src/ledger/store/orders.ts',
    code: 'order by order_key for update`',
    mistaken: 'order by order_key`',
  },
  {
    name: 'wrong order key',
    guarantee: 'a refund is filed under the order of its payment',
    file: 'src/ledger/lockPlan.ts',
    code: 'rows.get(refKey(ref))?.orderKey ?? orderKeyOf(ref)]',
    mistaken: 'orderKeyOf(ref)]',
  },
  {
    name: 'skipped sweep',
    guarantee: 'events that lost their job are enqueued again',
    file: 'src/ledger/inbox/sweep.ts',
    code: 'await producer.add([batchJob(ids)]);',
    mistaken: 'await producer.add([]);',
  },
  {
    name: 'double act',
    guarantee: 'a capture is requested only by the process that claimed the attempt',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'if (claim === undefined) return;',
    mistaken: '',
  },
  {
    name: 'double delivery',
    guarantee: 'a message that is being sent is leased, and nobody else sends it meanwhile',
    file: 'src/notify/deliver.ts',
    code: 'new Date(nowMs + LEASE_MS)',
    mistaken: 'new Date(nowMs)',
  },
  {
    name: 'stale read',
    guarantee:
      'totals are derived again if another transaction has created the order since it was read',
    file: 'src/ledger/recomputeOrders.ts',
    code: 'if (created.length < fresh.length) throw new LockSetChanged([]);',
    mistaken: '',
  },
];

/** @throws Error unless the code occurs exactly once */
export function withPlant({ name, file, code, mistaken }: Plant, source: string): string {
  const words = code.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(words.join('\\s*'), 'g');
  const found = [...source.matchAll(pattern)];
  if (found.length === 1) return source.replace(pattern, () => mistaken);
  throw new Error(`the code of the plant "${name}" occurs ${found.length} times in ${file}`);
}
