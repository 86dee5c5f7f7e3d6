/**
 * What other bodies are about that arrived under the ids of events. They are not applied, so it is retrieved: a body
 * about another payment would be acknowledged and never retrieved.
 *
 * 1. All bodies of an event are read when it is applied, up to `MAX_OTHER_BODIES`: of more, the newest. Each new one
 *    makes the event pending again.
 * 2. Of a page of bodies, only what they are about is kept, so memory does not grow with the bodies.
 */
import { inChunks } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type InboxEvent, readOtherBody, type UnappliedRef } from '../domain/event.ts';
import { findOtherBodies, type OtherBody, readOtherBodies } from './store/pending.ts';

/** Events of which the places of bodies are in memory together. With 20, a flood of other bodies took a tenth longer. */
const EVENTS = 200;
const PAGE_BYTES = 4_000_000;

export async function readOthers(
  tx: Queryable,
  events: readonly InboxEvent[],
  merchantId: string,
): Promise<readonly UnappliedRef[]> {
  const reused = new Map(
    events.flatMap((event) => (event.hasVariants ? [[event.id, event] as const] : [])),
  );
  const refs: UnappliedRef[] = [];
  for (const ids of inChunks([...reused.keys()], EVENTS)) {
    for (const page of pagesOf(await findOtherBodies(tx, ids))) {
      for (const { id, body } of await readOtherBodies(tx, page)) {
        const event = reused.get(id);
        const ref = event && readOtherBody(body, event, merchantId);
        if (ref) refs.push(ref);
      }
    }
  }
  return refs;
}

/** Pages of at most `PAGE_BYTES`, or of one body. */
function pagesOf(bodies: readonly OtherBody[]): readonly (readonly OtherBody[])[] {
  const pages: OtherBody[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const body of bodies) {
    bytes += body.bytes;
    if (bytes > PAGE_BYTES) {
      pages.push([]);
      bytes = body.bytes;
    }
    pages.at(-1)?.push(body);
  }
  return pages;
}
