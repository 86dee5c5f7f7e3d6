/**
 * Lists: the two envelopes of the contract, and how every known one is read.
 * service-interface.md §2.3.
 */
import { z } from 'zod';

/**
 * As payment lists are written: `count` items here of `total_count`. Same section, first item.
 * @returns the schema of such a list of `item`.
 */
export function paymentListOf<T extends z.ZodType>(item: T) {
  return z.looseObject({ count: z.int(), total_count: z.int(), data: z.array(item) });
}

/**
 * As other lists are written. Same section, second item.
 * @returns the schema of such a list of `item`.
 */
export function listOf<T extends z.ZodType>(item: T) {
  return z.looseObject({ data: z.array(item), total_count: z.int(), has_more: z.boolean() });
}

/** One page, whatever envelope it came in. */
export interface Page<T> {
  readonly items: readonly T[];
  /**
   * Rows that are not what the contract says, as they came: without an id, or with money of another
   * form. One of them must not hide the others.
   */
  readonly unreadable: readonly unknown[];
  /** Items in all pages together; undefined where the envelope does not tell. */
  readonly totalCount: number | undefined;
  /** Undefined where the envelope does not tell. */
  readonly hasMore: boolean | undefined;
}

const envelopeSchema = z.looseObject({
  data: z.array(z.unknown()),
  total_count: z.int().nullish(),
  has_more: z.boolean().nullish(),
});

/**
 * Reads a page of `item` from either envelope, from `{size, data}` or from a bare array: services
 * of this family answer with any of them.
 * @throws ZodError when it is none of these.
 */
export function readPage<T>(item: z.ZodType<T>, body: unknown): Page<T> {
  const envelope = envelopeSchema.parse(Array.isArray(body) ? { data: body } : body);
  const items: T[] = [];
  const unreadable: unknown[] = [];
  for (const row of envelope.data) {
    const { success, data } = item.safeParse(row);
    if (success) items.push(data);
    else unreadable.push(row);
  }
  const { total_count: totalCount, has_more: hasMore } = envelope;
  return {
    items,
    unreadable,
    totalCount: totalCount ?? undefined,
    hasMore: hasMore ?? undefined,
  };
}
