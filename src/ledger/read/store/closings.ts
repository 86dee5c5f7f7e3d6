/** Statements that read closings of months and their sums. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Closing } from '../../domain/closings.ts';
import type { ClosedDaySums, LegSums } from '../../domain/statement.ts';
import { readStoredDays } from '../../store/closings.ts';
import { micros } from './instants.ts';
import type { SumsAsText } from './sums.ts';

const SEAL = `
  case when s.closing_id is not null then json_build_object(
    'blockNumber', s.block_number, 'blockDigest', encode(s.block_digest, 'hex'),
    'digest', encode(s.digest, 'hex'), 'signature', encode(s.signature, 'hex'),
    'sealedMicros', ${micros('s.sealed_at')}) end`;

/** Every closing, also of months that were reopened, by month and version. */
export function readClosings(tx: Queryable): Promise<readonly Closing[]> {
  return tx.query<Closing>(
    `select id, month, version, time_zone as "timeZone", ${micros('from_at')} as "fromMicros",
            ${micros('to_at')} as "toMicros", previous_id as "previousId",
            last_transfer as "lastTransfer", ${micros('closed_at')} as "closedMicros",
            closed_by as "closedBy", reason, exceptions, ${micros('reopened_at')} as "reopenedMicros",
            reopened_by as "reopenedBy", reopened_reason as "reopenedReason", ${SEAL} as seal
       from period_closings c left join closing_seals s on s.closing_id = c.id
      order by month, version
      limit 10000`,
  );
}

/** What a closing added, by day; days before its month are late postings. @param currency undefined: every */
export async function readClosingDays(
  tx: Queryable,
  id: number,
  currency: string | undefined,
): Promise<readonly ClosedDaySums[]> {
  const stored = await readStoredDays(tx, id, currency);
  return stored.map(({ day, currency: own, leg, sums }) => ({
    day: day ?? '',
    currency: own,
    leg,
    ups: Number(sums.ups),
    downs: Number(sums.downs),
    upMinor: BigInt(sums.up_minor ?? 0),
    downMinor: BigInt(sums.down_minor ?? 0),
    late: Number(sums.late),
    lateMinor: BigInt(sums.late_minor ?? 0),
    postedUpMinor: BigInt(sums.posted_up_minor ?? 0),
    postedDownMinor: BigInt(sums.posted_down_minor ?? 0),
  }));
}

/** What every leg had posted by the end of a closed month. @param currency undefined: every */
export async function readClosingBalances(
  tx: Queryable,
  id: number,
  currency: string | undefined,
): Promise<readonly LegSums[]> {
  const rows = await tx.query<SumsAsText<LegSums>>(
    `select currency, leg, posted_up_minor::text as "upMinor", posted_down_minor::text as "downMinor"
       from closing_balances
      where closing_id = $1 and ($2::text is null or currency = $2)
      order by currency, leg
      limit 10000`,
    [id, currency ?? null],
  );
  return rows.map((row) => ({
    ...row,
    upMinor: BigInt(row.upMinor),
    downMinor: BigInt(row.downMinor),
  }));
}
