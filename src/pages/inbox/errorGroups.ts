/** Dead events by error. Ids and numbers differ within one cause, so they are left out of the comparison. */
import type { EventSummary } from '../../ledger/read/store/parts.ts';

export interface ErrorGroup {
  /** The error of its newest event. */
  readonly error: string;
  readonly count: number;
  /** Inbox number. */
  readonly newest: number;
}

/** @param events newest first @returns the most frequent error first */
export function groupByError(
  events: readonly Pick<EventSummary, 'id' | 'error'>[],
): readonly ErrorGroup[] {
  const groups = new Map<string, ErrorGroup>();
  for (const { id, error } of events) {
    const text = error ?? 'unknown';
    const key = text.replaceAll(/\w*\d\w*/g, '#');
    const group = groups.get(key);
    groups.set(
      key,
      group ? { ...group, count: group.count + 1 } : { error: text, count: 1, newest: id },
    );
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count || b.newest - a.newest);
}
