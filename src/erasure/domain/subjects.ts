/** What a request for erasure names, and which events are about it. */
import { bodyObjects } from './bodyObjects.ts';

export const SUBJECT_KINDS = ['order', 'payment', 'customer'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

export interface ErasureSubject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** The text that names a subject, such as `customer:cus_1`. */
export function subjectText({ kind, id }: ErasureSubject): string {
  return `${kind}:${id}`;
}

/** @throws Error for a text that `subjectText` does not write */
export function readSubject(text: string): ErasureSubject {
  const at = text.indexOf(':');
  const kind = SUBJECT_KINDS.find((name) => name === text.slice(0, at));
  if (kind === undefined || at + 1 >= text.length) throw new Error(`not a subject: ${text}`);
  return { kind, id: text.slice(at + 1) };
}

/** The ids that a body carries, by what they are ids of. */
export interface CarriedIds {
  /** Of payments, refunds, disputes and payouts. */
  readonly resources: ReadonlySet<string>;
  readonly orders: ReadonlySet<string>;
  readonly customers: ReadonlySet<string>;
}

const RESOURCE_FIELDS = new Set(['payment_id', 'refund_id', 'dispute_id', 'payout_id']);

/** Every id that a body carries, at any depth. @param body the parsed body */
export function carriedIds(body: unknown): CarriedIds {
  const ids = {
    resources: new Set<string>(),
    orders: new Set<string>(),
    customers: new Set<string>(),
  };
  for (const { fields, name } of bodyObjects(body)) {
    for (const [field, value] of Object.entries(fields)) {
      const id = typeof value === 'number' ? String(value) : value;
      const kind = typeof id === 'string' ? kindOfId(field, name) : undefined;
      if (kind !== undefined) ids[kind].add(String(id));
    }
  }
  return ids;
}

/** @param holder the field of the object around it */
function kindOfId(field: string, holder: string): keyof CarriedIds | undefined {
  if (RESOURCE_FIELDS.has(field)) return 'resources';
  if (field === 'order_id') return 'orders';
  if (field === 'customer_id') return 'customers';
  // Bodies of the second API version name their own id `id`.
  if (field === 'id') return holder.startsWith('customer') ? 'customers' : 'resources';
  return undefined;
}
