/** Statements on acknowledged events that a server lacked after it had taken over. Times are the database's. */
import type { Queryable } from '../../platform/db/database.ts';

export interface NewLoss {
  readonly timeline: string;
  /** Host and process id of the receiver that found it. */
  readonly process: string;
  /** Those that it persisted again. */
  readonly events: number;
  /** Those that the server refuses; negative for those that it refused before. */
  readonly refused: number;
  readonly firstReceivedAt: Date;
  readonly lastReceivedAt: Date;
}

export async function insertLoss(db: Queryable, loss: NewLoss): Promise<void> {
  await db.query(
    `insert into failover_losses (timeline, process, events, refused, first_received_at, last_received_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      loss.timeline,
      loss.process,
      loss.events,
      loss.refused,
      loss.firstReceivedAt,
      loss.lastReceivedAt,
    ],
  );
}

/** A loss without a comparison, because no API key is set, is reported for so long. */
const OPEN_DAYS = 30;

/** All losses that are not compared with the service yet. */
export interface OpenLosses {
  /** The greatest number of a loss. */
  readonly lastId: number;
  readonly events: number;
  /** Those that the server refuses, so that only the receivers have them. */
  readonly refused: number;
  readonly firstReceivedMs: number;
  readonly lastReceivedMs: number;
  /** When the last of them was found. */
  readonly lastDetectedMs: number;
  /** Whether a comparison that covers the last one was enqueued. */
  readonly isEnqueued: boolean;
}

const MS = (time: string) => `(extract(epoch from ${time}) * 1000)::float8`;

export async function readOpenLosses(db: Queryable): Promise<OpenLosses | undefined> {
  const [row] = await db.query<OpenLosses & { readonly losses: number }>(
    `select count(*) as losses, coalesce(sum(events), 0)::bigint as events,
            greatest(coalesce(sum(refused), 0), 0)::bigint as refused,
            ${MS('min(first_received_at)')} as "firstReceivedMs",
            ${MS('max(last_received_at)')} as "lastReceivedMs",
            coalesce(max(id), 0) as "lastId",
            ${MS('max(detected_at)')} as "lastDetectedMs",
            coalesce(bool_and(reconcile_enqueued_at is not null), false) as "isEnqueued"
       from failover_losses
      where reconciled_at is null
        and detected_at > statement_timestamp() - interval '${OPEN_DAYS} days'`,
  );
  if (!row || row.losses === 0) return undefined;
  const { losses: _, ...open } = row;
  return open;
}

/** Records that a comparison was enqueued for the open losses up to a number. */
export async function markEnqueued(db: Queryable, throughId: number): Promise<void> {
  await db.query(
    `update failover_losses set reconcile_enqueued_at = statement_timestamp()
      where reconciled_at is null and reconcile_enqueued_at is null and id <= $1`,
    [throughId],
  );
}

/** Closes the losses up to a number: the ledger was compared with the service after them. */
export async function closeLosses(db: Queryable, throughId: number): Promise<void> {
  await db.query(
    `update failover_losses set reconciled_at = statement_timestamp()
      where reconciled_at is null and id <= $1`,
    [throughId],
  );
}
