/**
 * Searches the stored bodies for a text: a name, a mail address, the id of a customer. No index leads
 * there, so the bodies are read from the newest day on for a bounded time, and the result states how far
 * that was.
 */

import { createMatcher, MIN_VALUE_LENGTH } from '../erasure/domain/matcher.ts';
import { carriedIds } from '../erasure/domain/subjects.ts';
import { type NewestScan, scanNewestBodies } from '../ledger/bodies/scanBodies.ts';
import { findEvent } from '../ledger/read/store/parts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { findOrders, type Hit } from './search.ts';

/** Shorter texts are in too many bodies. */
export const MIN_TEXT_LENGTH = MIN_VALUE_LENGTH;

const MAX_SEARCH_MS = 3_000;
const MAX_BODIES = 20;
const MAX_IDS = 100;

export interface BodySearchResult extends NewestScan {
  readonly hits: readonly Hit[];
}

/** The orders and events with a body that has the text as a word, in upper or lower case. */
export async function searchBodies(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  text: string,
): Promise<BodySearchResult> {
  const matcher = createMatcher([{ value: text.trim(), owner: undefined }]);
  const endMs = clock.nowMs() + MAX_SEARCH_MS;
  const numbers = new Set<number>();
  const ids = new Set<string>();
  const isOver = () => numbers.size >= MAX_BODIES || clock.nowMs() >= endMs;
  const scan = await scanNewestBodies(db, isOver, (bodies) => {
    for (const { id, body } of bodies) {
      const content = body.toString('utf8');
      if (numbers.size >= MAX_BODIES || matcher.find(content).length === 0) continue;
      numbers.add(id);
      for (const named of idsIn(content)) ids.add(named);
    }
  });
  const orders = await findOrders(db, [...ids].slice(0, MAX_IDS));
  const events: Hit[] = [];
  for (const number of numbers) {
    const event = await findEvent(db, String(number));
    if (event?.id === number) events.push({ kind: 'event', event });
  }
  return { ...scan, hits: [...orders, ...events] };
}

/** Ids of the orders and payments that a body is about. */
function idsIn(content: string): readonly string[] {
  try {
    const { orders, resources } = carriedIds(JSON.parse(content));
    return [...orders, ...resources];
  } catch {
    return [];
  }
}
