/**
 * The change feed, which a shop reads to find out what changed. A change names an order, or a resource
 * without an order, and its status. The shop reads the details separately.
 *
 * 1. A transaction that changes an order, or a resource without one, records the change itself.
 * 2. A change is recorded if a status differs or something new was learned: a snapshot, another order,
 *    another open finding. A delivery without new information is no change.
 * 3. Changes of one subject are recorded under its lock, so they are in the order in which it changed.
 */
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';

/** What changed: a status, other details, or the registered expectation. */
export const CHANGES = ['status', 'details', 'registered'] as const;
export type Change = (typeof CHANGES)[number];

/** What a change can be about. A resource appears only if it has no order. */
export const CHANGE_SUBJECTS = ['order', ...RESOURCE_KINDS] as const;
export type ChangeSubject = (typeof CHANGE_SUBJECTS)[number];

/** One row of the feed. Numbers follow the order of commits; see changeFeed.ts. */
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
  /** The change is imported history. */
  readonly isHistory: boolean;
}

/** A change that has no number yet. */
export interface RecordedChange {
  readonly kind: ChangeSubject;
  /** The key of an order, or the id of a resource. */
  readonly subject: string;
  readonly change: Change;
  readonly status: string | null;
  /** Null if the subject is new. */
  readonly previousStatus: string | null;
  /** The last inbox row that contributed. */
  readonly webhookEventId: number | undefined;
  /** Everything that contributed is imported history. */
  readonly isHistory: boolean;
}

/** A resource before and after a transaction. */
export interface TouchedResource {
  readonly kind: Exclude<ChangeSubject, 'order'>;
  readonly id: string;
  readonly previousStatus: string | null;
  readonly status: string | null;
  /** The order it was filed under, and the order it is filed under now. */
  readonly from: string | null;
  readonly to: string | null;
  /** Something new was learned, even if the status is the same. */
  readonly isLearned: boolean;
  /** Its first known state is imported history, and its order has no news. */
  readonly isHistory: boolean;
  readonly webhookEventId: number | undefined;
}

/** Statuses by order key, before and after. New orders are missing in `before`. */
export interface OrderStatuses {
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

/** The changes to record: one for each order, and one for each resource without an order. */
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
function asChange(touched: Touched): readonly RecordedChange[] {
  const { kind, subject, status, previousStatus, webhookEventId, isHistory, isLearned } = touched;
  const hasMoved = status !== previousStatus;
  if (!hasMoved && !isLearned) return [];
  const change = hasMoved ? 'status' : 'details';
  return [{ kind, subject, change, status, previousStatus, webhookEventId, isHistory }];
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
