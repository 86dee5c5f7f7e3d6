/** Statements that read settlement and bank lines with what they posted, for verify. */
import type { Queryable } from '../../platform/db/database.ts';
import type { JournalRow } from '../domain/checkJournal.ts';
import { LINE_KINDS, type LineKind } from '../domain/legs.ts';
import type { LineMatch, LineType } from '../domain/lines.ts';

/** A line as stored. Amounts are text, so that a damaged one of any size can be reported. */
export interface VerifiedLine {
  readonly id: number;
  readonly kind: LineKind;
  readonly type: LineType;
  readonly settlement: string | null;
  readonly reference: string | null;
  readonly lineReference: string | null;
  readonly day: string;
  readonly currency: string;
  readonly grossMinor: number;
  readonly feeMinor: number;
  readonly digest: string;
  readonly match: LineMatch | null;
}

export interface LineRange {
  readonly after: number;
  readonly until: number | undefined;
  readonly limit: number;
}

/** The next lines by their numbers. */
export function readVerifiedLines(
  tx: Queryable,
  { after, until, limit }: LineRange,
): Promise<readonly VerifiedLine[]> {
  return tx.query<VerifiedLine>(
    `select l.id, l.kind, l.type, s.reference as settlement, l.reference,
            l.line_reference as "lineReference", l.day::text as day, l.currency,
            l.gross_minor as "grossMinor", l.fee_minor as "feeMinor", encode(l.digest, 'hex') as digest,
            case when m.id is not null
                 then jsonb_build_object('targetKind', m.target_kind,
                                         'writtenOffMinor', m.written_off_minor) end as match
       from settlement_lines l
       left join settlements s on s.id = l.settlement_id
       left join settlement_matches m on m.line_id = l.id and m.undone_at is null
      where l.id > $1 and ($2::bigint is null or l.id <= $2)
      order by l.id
      limit $3`,
    [after, until ?? null, limit],
  );
}

export interface LineTransfer extends JournalRow {
  readonly lineId: number;
  readonly effectiveMicros: number;
}

/** What lines posted, each leg in sequence. */
export async function readLineTransfers(
  tx: Queryable,
  lines: readonly Pick<VerifiedLine, 'kind' | 'id'>[],
): Promise<readonly LineTransfer[]> {
  const rows = await tx.query<
    Omit<LineTransfer, 'amountMinor' | 'previousMinor' | 'cumulativeMinor'> & {
      readonly amount: string;
      readonly previous: string;
      readonly cumulative: string;
    }
  >(
    `select t.resource_id::bigint as "lineId", t.leg, t.currency, t.leg_seq as seq, t.debit, t.credit,
            t.amount_minor::text as amount, t.previous_minor::text as previous,
            t.cumulative_minor::text as cumulative,
            (extract(epoch from t.effective_at) * 1000000)::bigint as "effectiveMicros"
       from unnest($1::text[], $2::text[]) as wanted (kind, id)
      cross join lateral (select * from transfers t
                           where t.kind = wanted.kind and t.resource_id = wanted.id offset 0) t
      order by t.resource_id, t.leg, t.currency, t.leg_seq`,
    [lines.map(({ kind }) => kind), lines.map(({ id }) => String(id))],
  );
  return rows.map(({ amount, previous, cumulative, ...rest }) => ({
    ...rest,
    amountMinor: BigInt(amount),
    previousMinor: BigInt(previous),
    cumulativeMinor: BigInt(cumulative),
  }));
}

/** Lines that posted, and are not stored. */
export function readStrayLines(
  tx: Queryable,
  limit: number,
): Promise<readonly { readonly kind: string; readonly id: string }[]> {
  return tx.query(
    `select distinct t.kind, t.resource_id as id
       from transfers t
      where t.kind in (${LINE_KINDS.map((kind) => `'${kind}'`).join(', ')})
        and not exists (select from settlement_lines l
                         where l.kind = t.kind and l.id::text = t.resource_id)
      order by t.kind, t.resource_id
      limit $1`,
    [limit],
  );
}
