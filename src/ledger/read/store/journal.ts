/** Statements that read the journal from end to end, a bounded number of rows at a time. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { JournalRow } from '../../domain/journalFormats.ts';
import { instantOrNull } from '../../domain/time.ts';
import { JOURNAL_COLUMNS, type StoredJournalRow, toJournalRow } from './journalRow.ts';

/** A span of recording time: `from` belongs to it, `to` does not. */
export interface JournalRange {
  readonly fromMicros?: number | undefined;
  readonly toMicros?: number | undefined;
}

function rangeColumns({ fromMicros, toMicros }: JournalRange): readonly (string | null)[] {
  return [instantOrNull(fromMicros), instantOrNull(toMicros)];
}

/** Numbers between which the transfers of a range lie. */
export interface JournalBounds {
  readonly firstId: number;
  readonly lastId: number;
}

/**
 * The bounds of a range, so that reading it starts and ends near its rows. Numbers rise almost with
 * the time of recording, not quite: the times of the rows between the bounds still have to be checked.
 * @returns undefined when the range is empty
 */
export async function readJournalBounds(
  tx: Queryable,
  range: JournalRange,
): Promise<JournalBounds | undefined> {
  // Materialized, so that the index on the time is used: for the least number alone, the planner would
  // scan the journal from its beginning until a row fits.
  const rows = await tx.query<{ firstId: number | null; lastId: number | null }>(
    range.fromMicros === undefined && range.toMicros === undefined
      ? `select (select min(id) from transfers) as "firstId",
                (select max(id) from transfers) as "lastId"`
      : `with span as materialized (
           select id from transfers
            where recorded_at >= coalesce($1::timestamptz, '-infinity')
              and recorded_at < coalesce($2::timestamptz, 'infinity'))
         select min(id) as "firstId", max(id) as "lastId" from span`,
    range.fromMicros === undefined && range.toMicros === undefined ? [] : rangeColumns(range),
  );
  const [{ firstId, lastId } = { firstId: null, lastId: null }] = rows;
  return firstId === null || lastId === null ? undefined : { firstId, lastId };
}

export interface JournalChunk extends JournalRange {
  /** Rows above this number, up to `lastId`. */
  readonly afterId: number;
  readonly lastId: number;
  readonly limit: number;
}

/** The next transfers by number, each with its event and with the order that its resource is in now. */
export async function readJournalChunk(
  tx: Queryable,
  chunk: JournalChunk,
): Promise<readonly JournalRow[]> {
  const rows = await tx.query<StoredJournalRow>(
    `select ${JOURNAL_COLUMNS}
       from transfers t
       left join webhook_events e on e.id = t.webhook_event_id
       left join resources r on r.kind = t.kind and r.id = t.resource_id
      where t.id > $3 and t.id <= $4
        and t.recorded_at >= coalesce($1::timestamptz, '-infinity')
        and t.recorded_at < coalesce($2::timestamptz, 'infinity')
      order by t.id
      limit $5`,
    [...rangeColumns(chunk), chunk.afterId, chunk.lastId, chunk.limit],
  );
  return rows.map(toJournalRow);
}
