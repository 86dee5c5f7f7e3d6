/**
 * Whether the receiver holds another verified event until it is persisted.
 *
 * 1. The events that are held are bounded in number and in bytes. An event is held for about their number
 *    divided by the rate at which the database persists them, so the limit bounds the time of a reply.
 * 2. A held event takes a connection of its sender. There are fewer of them than places of verified
 *    connections (guard.ts), so that too many events are refused with a reply, not by a reset.
 * 3. Under overload batches have about 250 events. A smaller limit would make smaller batches.
 * 4. While the oldest event has waited for half of the time that a commit may take, the database does not
 *    keep up or does not respond, and what arrives would wait as long.
 * 5. Nothing is remembered: there is room as soon as events are persisted.
 */

export interface Held {
  readonly events: number;
  readonly bytes: number;
  /** How long the oldest of them has been held; 0 if there is none. */
  readonly oldestMs: number;
}

export const MAX_HELD_EVENTS = 800;
const MAX_HELD_BYTES = 64 * 1024 * 1024;
export const MAX_HELD_MS = 5_000;

/** @param bytes of the event that would be added, as far as they are known */
export function hasRoom(held: Held, bytes: number): boolean {
  return (
    held.events < MAX_HELD_EVENTS &&
    held.bytes + bytes <= MAX_HELD_BYTES &&
    held.oldestMs < MAX_HELD_MS
  );
}
