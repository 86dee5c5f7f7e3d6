/**
 * A whole list, page after page.
 *
 * A list can change while it is walked. Rows that come in front push others onto the next page:
 * those are given once. Rows that leave can pull others past the walk, so a walk is no proof that
 * nothing is missing; who needs one reads spans of time that fit on a page. Rows that cannot be read
 * are told of when all the others were given.
 */
import { PAGE_SIZE } from '../contract/limits.ts';
import type { Page } from '../contract/lists.ts';
import { PaymentServiceError } from './errors.ts';
import type { CallOptions } from './send.ts';

type List<F, T> = (filter?: F, options?: CallOptions) => Promise<Page<T>>;
type Iterate<F, T> = (filter?: F, options?: CallOptions) => AsyncIterable<T>;
type Paged = { readonly limit?: number | undefined; readonly offset?: number | undefined };

/** Makes the call that walks a whole list of the call that gives one page. */
export function createIterate<F extends Paged, T>(
  operation: string,
  list: List<F, T>,
  idOf: (item: T) => string,
): Iterate<F, T> {
  return (filter, options) =>
    walkPages({
      operation,
      limit: filter?.limit,
      offset: filter?.offset,
      fetchPage: (limit, offset) => list({ ...filter, limit, offset } as F, options),
      idOf,
    });
}

/** What walking needs. */
export interface Walk<T> {
  readonly operation: string;
  /** Rows a page, 1 to 100; the largest when it is left out. */
  readonly limit: number | undefined;
  /** Rows skipped at the start. */
  readonly offset: number | undefined;
  readonly fetchPage: (limit: number, offset: number) => Promise<Page<T>>;
  readonly idOf: (item: T) => string;
}

/**
 * Walks a list to its end. The end is what the envelope says; where it says nothing, an empty page:
 * a short one proves nothing, because some services hand out fewer rows than asked for.
 * @throws PaymentServiceError as each page does, and `unreadable_answer` when offset is ignored, or
 * at the end when rows could not be read.
 */
export async function* walkPages<T>(walk: Walk<T>): AsyncGenerator<T, void, undefined> {
  const { operation, limit = PAGE_SIZE.max, fetchPage, idOf } = walk;
  let offset = walk.offset ?? 0;
  let previous: ReadonlySet<string> = new Set();
  let unreadable = 0;
  for (;;) {
    const page = await fetchPage(limit, offset);
    const ids = page.items.map(idOf);
    const fresh = page.items.filter((item) => !previous.has(idOf(item)));
    yield* fresh;
    unreadable += page.unreadable.length;
    offset += page.items.length + page.unreadable.length;
    if (isLast(page, offset)) break;
    if (fresh.length === 0) {
      // All of the list came at once, from a service that knows no offset: that is its end, too.
      if (page.items.length < limit && saysNothing(page)) break;
      throw new PaymentServiceError('unreadable_answer', {
        operation,
        message: 'the same page came twice: offset is ignored, so the rest cannot be read',
      });
    }
    previous = new Set(ids);
  }
  if (unreadable > 0) throw unreadableRows(operation);
}

/** For calls that have no other way of saying that rows were left out. */
export function unreadableRows(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_answer', {
    operation,
    message: 'some rows are not what the contract says',
  });
}

function saysNothing<T>({ hasMore, totalCount }: Page<T>): boolean {
  return hasMore === undefined && totalCount === undefined;
}

function isLast<T>(page: Page<T>, offset: number): boolean {
  const { items, unreadable, hasMore, totalCount } = page;
  if (items.length + unreadable.length === 0) return true;
  return hasMore === undefined ? totalCount !== undefined && offset >= totalCount : !hasMore;
}
