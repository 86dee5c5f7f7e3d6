/**
 * Measures the time from reply to application on a sample: after the reply, polls until the event's
 * inbox row is no longer in `pending`. All open samples share one statement and their number is
 * bounded, so that polling stays cheap; a sample is polled less often the older it is. Times are
 * upper bounds: an event counts as applied when the poll found it applied.
 */
import type { Database } from '../src/platform/db/database.ts';
import { nowMs } from './loadProtocol.ts';
import { type Quantiles, quantilesOf } from './quantiles.ts';

export interface AppliedProbe {
  watch(eventId: string, repliedAtMs: number): void;
  /** Stops watching; what was never seen applied counts with its age. */
  finish(): Promise<AppliedTimes>;
}

export interface AppliedTimes extends Quantiles {
  /** Not taken because too many were open. */
  readonly skipped: number;
  /** Not seen applied by the end. */
  readonly open: number;
}

const MAX_OPEN = 1_000;
/** Share of its age after which a sample is polled again: the error is at most ten percent. */
const POLL_AFTER_SHARE_OF_AGE = 0.1;

/** @param pollEveryMs the precision of the times; frequent polling takes its share of the machine */
export function startProbe(db: Pick<Database, 'query'>, pollEveryMs: number): AppliedProbe {
  const open = new Map<string, { readonly repliedAtMs: number; dueMs: number }>();
  const timesMs: number[] = [];
  let skipped = 0;
  let isOver = false;

  const poll = async (untilMs: number): Promise<void> => {
    const due = [...open].filter(([, sample]) => sample.dueMs <= untilMs).map(([id]) => id);
    if (due.length === 0) return;
    const rows = await db.query<{ eventId: string }>(
      `select e.event_id as "eventId"
         from webhook_events e
        where e.event_id = any ($1::text[])
          and not exists (select from pending p where p.webhook_event_id = e.id)`,
      [due],
    );
    const seenMs = nowMs();
    for (const { eventId } of rows) {
      const sample = open.get(eventId);
      if (sample && open.delete(eventId)) timesMs.push(seenMs - sample.repliedAtMs);
    }
    for (const sample of open.values()) {
      if (sample.dueMs <= seenMs)
        sample.dueMs = seenMs + POLL_AFTER_SHARE_OF_AGE * (seenMs - sample.repliedAtMs);
    }
  };
  const running = (async () => {
    while (!isOver) {
      await poll(nowMs());
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
    }
  })();

  return {
    watch: (eventId, repliedAtMs) => {
      if (open.size < MAX_OPEN) open.set(eventId, { repliedAtMs, dueMs: repliedAtMs });
      else skipped += 1;
    },
    finish: async () => {
      isOver = true;
      await running;
      await poll(Number.POSITIVE_INFINITY);
      const unseen = [...open.values()].map(({ repliedAtMs }) => nowMs() - repliedAtMs);
      return { ...quantilesOf([...timesMs, ...unseen]), skipped, open: open.size };
    },
  };
}
