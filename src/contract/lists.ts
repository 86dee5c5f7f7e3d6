/**
 * Lists: the contract's two envelopes, and a parser for every known one. service-interface.md §2.3.
 */
import { z } from 'zod';
import { lenient } from './resources/fields.ts';

/**
 * The envelope of payment lists: `count` items on this page, `total_count` in all.
 * @returns the schema of a list of `item`
 */
export function paymentListOf<T extends z.ZodType>(item: T) {
  return z.looseObject({ count: z.int(), total_count: z.int(), data: z.array(item) });
}

/**
 * The envelope of all other lists.
 * @returns the schema of a list of `item`
 */
export function listOf<T extends z.ZodType>(item: T) {
  return z.looseObject({ data: z.array(item), total_count: z.int(), has_more: z.boolean() });
}

/** One page, in any envelope. */
export interface Page<T> {
  readonly items: readonly T[];
  /**
   * Rows that do not match the contract, as received: without an id, or with an invalid amount or
   * currency. An unreadable row must not hide the others.
   */
  readonly unreadable: readonly unknown[];
  /** Items on all pages; undefined if the envelope does not report it. */
  readonly totalCount: number | undefined;
  /** Undefined if the envelope does not report it. */
  readonly hasMore: boolean | undefined;
}

/** What is invalid beside the rows counts as not reported: it must not hide them. */
const envelopeSchema = z.looseObject({
  data: z.array(z.unknown()),
  total_count: lenient(z.int()),
  has_more: lenient(z.boolean()),
});

/**
 * Parses a page of `item` from either envelope, from `{size, data}` or from a bare array: services
 * of this family return any of them.
 * @throws ZodError for any other form
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
