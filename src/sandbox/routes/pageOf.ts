import { DEFAULT_OFFSET, PAGE_SIZE } from '../../contract/index.ts';
import { accept, type Decision } from '../domain/decision.ts';

export interface PageInput {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The rows of a page to read. service-interface.md §8.1. */
export function pageBounds(input: PageInput): { readonly limit: number; readonly offset: number } {
  return { limit: input.limit ?? PAGE_SIZE.default, offset: input.offset ?? DEFAULT_OFFSET };
}

/**
 * One page in the general list form. service-interface.md §2.3.
 * Lists of the four kinds of resources go through list.ts instead, which applies faults.
 */
export function pageOf(data: readonly object[], total: number, offset: number): Decision<object> {
  return accept({ data, total_count: total, has_more: offset + data.length < total });
}
