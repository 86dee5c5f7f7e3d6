/**
 * The change feed: what a shop reads to learn that something is new. It says which order (or which
 * resource that belongs to none) changed and to what status; the rest the shop fetches.
 *
 * 1. Every transaction that changes an order or a resource without one records it, in itself.
 * 2. A change is recorded when a status differs, or when something was learned: a snapshot that was
 *    not known, another order, another open finding. A delivery that says nothing new is no change.
 * 3. Changes of one subject are recorded under its lock, so their order is the order of its life.
 */

/** What a row of the feed says has happened. */
export const CHANGES = ['status', 'details', 'registered'] as const;
export type Change = (typeof CHANGES)[number];

/** What the feed speaks of. Resources appear only where no order speaks for them. */
export const CHANGE_SUBJECTS = ['order', 'payment', 'refund', 'dispute', 'payout'] as const;
export type ChangeSubject = (typeof CHANGE_SUBJECTS)[number];

/** One row of the feed. Its number follows the commits: see changeFeed.ts. */
export interface NumberedChange {
  readonly number: number;
  readonly kind: ChangeSubject;
  readonly id: string;
  readonly orderKey: string | null;
  readonly change: Change;
  readonly status: string | null;
  readonly previousStatus: string | null;
  readonly webhookEventId: number | null;
  readonly changedAt: Date;
  /** It was imported and tells of the past. */
  readonly isHistory: boolean;
}

/** A change on its way into the feed. */
export interface RecordedChange {
  readonly kind: ChangeSubject;
  /** The key of an order, the id of a resource. */
  readonly subject: string;
  readonly change: Change;
  readonly status: string | null;
  /** Null when it was not known before. */
  readonly previousStatus: string | null;
  /** The last of the inbox rows that had a part in it. */
  readonly webhookEventId: number | undefined;
  /** Everything that brought it was imported and tells of the past. */
  readonly isHistory: boolean;
}

/** One resource as a transaction met it and left it. */
export interface TouchedResource {
  readonly kind: Exclude<ChangeSubject, 'order'>;
  readonly id: string;
  readonly previousStatus: string | null;
  readonly status: string | null;
  /** Where it was filed, and where it is filed now. */
  readonly from: string | null;
  readonly to: string | null;
  /** Something was learned about it, whether or not it shows in the status. */
  readonly isLearned: boolean;
  /** What is known of it was imported and tells of the past. */
  readonly isHistory: boolean;
  readonly webhookEventId: number | undefined;
}

/** Statuses of orders by their keys, before and after. Those not known before are missing there. */
export interface OrderStatuses {
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

/** What changed, told by the subject that tells of it: orders, else the resources themselves. */
export function changesOf(
  resources: readonly TouchedResource[],
  orders: OrderStatuses,
): readonly RecordedChange[] {
  const touched = new Map<string, Touched>();
  const alone: Touched[] = [];
  for (const resource of resources) {
    const { from, to, isHistory, isLearned, webhookEventId } = resource;
    const keys = new Set([from, to].filter((key) => key !== null));
    if (keys.size === 0) alone.push({ ...resource, subject: resource.id });
    for (const key of keys) {
      const sofar = touched.get(key);
      touched.set(key, {
        kind: 'order',
        subject: key,
        previousStatus: orders.before.get(key) ?? null,
        status: orders.after.get(key) ?? null,
        isLearned: isLearned || from !== to || (sofar?.isLearned ?? false),
        isHistory: isHistory && (sofar?.isHistory ?? true),
        webhookEventId: later(sofar?.webhookEventId, webhookEventId),
      });
    }
  }
  return [...touched.values(), ...alone].flatMap(asChange);
}

type Touched = Omit<RecordedChange, 'change'> & { readonly isLearned: boolean };

/** Invariant 2. */
function asChange({ kind, subject, isLearned, ...one }: Touched): readonly RecordedChange[] {
  const { status, previousStatus, webhookEventId, isHistory } = one;
  const hasMoved = status !== previousStatus;
  if (!hasMoved && !isLearned) return [];
  const change = hasMoved ? 'status' : 'details';
  return [{ kind, subject, change, status, previousStatus, webhookEventId, isHistory }];
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
