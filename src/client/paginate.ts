/**
 * A whole list, page after page.
 *
 * A list can change while it is walked. Rows that come in front push others onto the next page:
 * those are given once, for which the ids of all that was given are kept. Rows that leave can pull
 * others past the walk, so a walk is no proof that nothing is missing; who needs one reads spans of
 * time that fit on a page. Rows that cannot be read are told of when all the others were given.
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
 * @throws PaymentServiceError as each page does, and `unreadable_response` when offset is ignored, or
 * at the end when rows could not be read.
 */
async function* walkPages<T>(walk: Walk<T>): AsyncGenerator<T, void, undefined> {
  const { operation, limit = PAGE_SIZE.max, fetchPage, idOf } = walk;
  const given = new Set<string>();
  let offset = walk.offset ?? 0;
  let unreadable = 0;
  let previous: string | undefined;
  let repeats = 0;
  for (;;) {
    const page = await fetchPage(limit, offset);
    const fresh = page.items.filter((item) => !given.has(idOf(item)));
    for (const item of fresh) given.add(idOf(item));
    yield* fresh;
    unreadable += page.unreadable.length;
    offset += sizeOf(page);
    const shown = page.items.map(idOf).join('\n');
    repeats = shown === previous ? repeats + 1 : 0;
    if (repeats > MOST_REPEATS) throw offsetIgnored(operation);
    if (isEnd(page, { offset, limit, isRepeat: repeats > 0 })) break;
    previous = shown;
  }
  if (unreadable > 0) throw unreadableRows(operation);
}

/** A page comes again also where as many rows as it holds came in front of the list meanwhile. */
const MOST_REPEATS = 1;

interface Place {
  /** Behind the page. */
  readonly offset: number;
  readonly limit: number;
  readonly isRepeat: boolean;
}

function isEnd<T>(page: Page<T>, { offset, limit, isRepeat }: Place): boolean {
  const { hasMore, totalCount } = page;
  if (sizeOf(page) === 0) return true;
  const saysNothing = hasMore === undefined && totalCount === undefined;
  // A service that knows no offset gives all of a short list each time; of a long one, the envelope
  // would say that it ends where it was never shown.
  if (isRepeat) return saysNothing && sizeOf(page) < limit;
  return hasMore === undefined ? totalCount !== undefined && offset >= totalCount : !hasMore;
}

function sizeOf<T>({ items, unreadable }: Page<T>): number {
  return items.length + unreadable.length;
}

function offsetIgnored(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: 'the same page came again and again: offset is ignored, so the rest cannot be read',
  });
}

/** For calls that have no other way of saying that rows were left out. */
export function unreadableRows(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: 'some rows are not what the contract says',
  });
}
