/**
 * Reads a whole list, page by page.
 *
 * A list can change between pages. New rows at the front push others onto the next page; each row
 * is returned once, so the ids of all returned rows are kept. Rows that leave can pull others past
 * the offset, so reading all pages does not prove that nothing is missing. For proof, read time
 * spans that fit on one page. Rows that cannot be parsed are reported after all others. A list with a
 * maximum below the contract's is read in smaller pages, unless the caller chose the limit.
 */
import { PAGE_SIZE, smallerLimit } from '../contract/limits.ts';
import type { Page } from '../contract/lists.ts';
import { PaymentServiceError } from './errors.ts';
import type { CallOptions } from './send.ts';

type List<F, T> = (filter?: F, options?: CallOptions) => Promise<Page<T>>;
type Iterate<F, T> = (filter?: F, options?: CallOptions) => AsyncIterable<T>;
type Paged = { readonly limit?: number | undefined; readonly offset?: number | undefined };

/** Creates the call that reads a whole list from the call that reads one page. */
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

/** The parameters of a walk over a list. */
export interface Walk<T> {
  readonly operation: string;
  /** Rows per page, 1 to 100; the maximum by default. */
  readonly limit: number | undefined;
  /** Rows skipped at the start. */
  readonly offset: number | undefined;
  readonly fetchPage: (limit: number, offset: number) => Promise<Page<T>>;
  readonly idOf: (item: T) => string;
}

/**
 * Walks a list to its end. The envelope decides where the list ends. If it does not, or contradicts itself, an
 * empty page does: a short page proves nothing, because some services return fewer rows than requested.
 * @throws PaymentServiceError as each page does, and `unreadable_response` when offset is ignored,
 * or at the end when rows could not be parsed.
 */
async function* walkPages<T>(walk: Walk<T>): AsyncGenerator<T, void, undefined> {
  const { operation, fetchPage, idOf } = walk;
  const seen = new Set<string>();
  let offset = walk.offset ?? 0;
  let unreadable = 0;
  let previous: string | undefined;
  let repeats = 0;
  const first = await fetchFirst(walk);
  const { limit } = first;
  for (let { page } = first; ; page = await fetchPage(limit, offset)) {
    const fresh = page.items.filter((item) => !seen.has(idOf(item)));
    for (const item of fresh) seen.add(idOf(item));
    yield* fresh;
    unreadable += page.unreadable.length;
    offset += sizeOf(page);
    const unread = page.unreadable.map((row) => JSON.stringify(row));
    const shown = [...page.items.map(idOf), ...unread].join('\n');
    repeats = shown === previous ? repeats + 1 : 0;
    if (repeats > MAX_REPEATS) throw offsetIgnored(operation);
    if (isEnd(page, { offset, limit, isRepeat: repeats > 0 })) break;
    previous = shown;
  }
  if (unreadable > 0) throw unreadableRows(operation);
}

async function fetchFirst<T>({ limit, offset = 0, fetchPage }: Walk<T>) {
  const fetch = (tried: number) => fetchPage(tried, offset);
  return limit === undefined ? await fetchLargest(fetch) : { page: await fetch(limit), limit };
}

/**
 * A page of the largest limit that the service accepts.
 * @throws PaymentServiceError the first rejection, if it rejects each of them
 */
export async function fetchLargest<T>(
  fetch: (limit: number) => Promise<Page<T>>,
): Promise<{ readonly page: Page<T>; readonly limit: number }> {
  let rejection: unknown;
  for (let limit: number | undefined = PAGE_SIZE.max; limit; limit = smallerLimit(limit)) {
    try {
      return { page: await fetch(limit), limit };
    } catch (error) {
      rejection ??= error;
      if (!isRejected(error)) throw error;
    }
  }
  throw rejection;
}

/** A limit that is too large is rejected like any invalid field. */
function isRejected(error: unknown): boolean {
  return (
    error instanceof PaymentServiceError &&
    error.kind === 'refused' &&
    (error.httpStatus === 400 || error.httpStatus === 422)
  );
}

/** A page also repeats when as many new rows as it holds were added in front of the list. */
const MAX_REPEATS = 1;

interface Position {
  /** The position after a page. */
  readonly offset: number;
  readonly limit: number;
  readonly isRepeat: boolean;
}

function isEnd<T>(page: Page<T>, { offset, limit, isRepeat }: Position): boolean {
  const { hasMore, totalCount } = page;
  if (sizeOf(page) === 0) return true;
  const isSilent = hasMore === undefined && totalCount === undefined;
  // A service that ignores offset returns the whole of a short list each time. For a long list, the
  // envelope would report an end that was never shown.
  if (isRepeat) return isSilent && sizeOf(page) < limit;
  const isCounted = totalCount === undefined || offset >= totalCount;
  return !isSilent && hasMore !== true && isCounted;
}

function sizeOf<T>({ items, unreadable }: Page<T>): number {
  return items.length + unreadable.length;
}

function offsetIgnored(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_response', {
    operation,
    message:
      'the service returns the same page repeatedly: it ignores offset, so the rest cannot be read',
  });
}

/** For calls that have no other way to report unreadable rows. */
export function unreadableRows(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: 'some rows do not match the contract',
  });
}

/** For calls that return a whole list at once. */
export function missingRows(operation: string): PaymentServiceError {
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: 'the service returns a part of the list only',
  });
}
