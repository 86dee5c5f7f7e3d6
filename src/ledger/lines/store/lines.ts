/** Statements on files and their lines. Whoever writes holds the lock of settlement (`lockSettlement`). */
import { lockByName } from '../../../platform/db/advisoryLocks.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { oneRow } from '../../../platform/db/oneRow.ts';
import type { Line, LineType, PostedLineLeg } from '../../domain/lines.ts';
import { lineKindOf } from '../../domain/lines.ts';

export const FILE_FORMATS = ['csv', 'camt.053', 'mt940'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

export interface NewFile {
  readonly source: string;
  readonly format: FileFormat;
  readonly name: string;
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string;
  readonly importedBy: string;
}

/** One import or match at a time, until the transaction ends: rules must see all lines. */
export async function lockSettlement(tx: Queryable): Promise<void> {
  await lockByName(tx, 'tallyhook settlement');
}

/** A file that was imported before. */
export interface KnownFile extends FileCounts {
  readonly id: number;
}

/** The file with the same bytes; undefined if none was imported. */
export async function findFile(
  tx: Queryable,
  { source, digest }: Pick<NewFile, 'source' | 'digest'>,
): Promise<KnownFile | undefined> {
  const rows = await tx.query<KnownFile>(
    `select id, lines, new_lines as "newLines", ignored from settlement_files
      where source = $1 and digest = decode($2, 'hex')
      limit 1`,
    [source, digest],
  );
  return rows[0];
}

/** @returns its number */
export async function insertFile(tx: Queryable, file: NewFile): Promise<number> {
  const rows = await tx.query<{ id: number }>(
    `insert into settlement_files (source, format, name, digest, imported_by)
     values ($1, $2, $3, decode($4, 'hex'), $5)
     returning id`,
    [file.source, file.format, file.name, file.digest, file.importedBy],
  );
  return oneRow(rows).id;
}

export interface FileCounts {
  readonly lines: number;
  readonly newLines: number;
  readonly ignored: number;
}

export async function countFile(
  tx: Queryable,
  fileId: number,
  { lines, newLines, ignored }: FileCounts,
): Promise<void> {
  await tx.query(
    'update settlement_files set lines = $2, new_lines = $3, ignored = $4 where id = $1',
    [fileId, lines, newLines, ignored],
  );
}

/** A table of this transaction for the lines of one file, so that equal lines can be counted. */
export async function createStage(tx: Queryable): Promise<void> {
  await tx.query(
    `create temporary table settlement_stage (
       number bigint generated always as identity, file_line integer, sequence integer, type text, settlement text,
       reference text, line_reference text, day date, currency text, gross_minor bigint,
       fee_minor bigint, text text, digest bytea) on commit drop`,
  );
}

export interface StagedLine extends Line {
  readonly digest: string;
}

export async function stageLines(tx: Queryable, lines: readonly StagedLine[]): Promise<void> {
  await tx.query(
    `insert into settlement_stage (file_line, type, settlement, reference, line_reference, day, currency,
                                   gross_minor, fee_minor, text, digest, sequence)
     select file_line, type, settlement, reference, line_reference, day, currency, gross, fee, text,
            decode(digest, 'hex'), sequence
       from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::date[], $7::text[],
                   $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::int[])
            as u (file_line, type, settlement, reference, line_reference, day, currency, gross, fee, text,
                  digest, sequence)`,
    [
      lines.map(({ fileLine }) => fileLine),
      lines.map(({ type }) => type),
      lines.map(({ settlement }) => settlement ?? null),
      lines.map(({ reference }) => reference ?? null),
      lines.map(({ lineReference }) => lineReference ?? null),
      lines.map(({ day }) => day),
      lines.map(({ currency }) => currency),
      lines.map(({ grossMinor }) => grossMinor),
      lines.map(({ feeMinor }) => feeMinor),
      lines.map(({ text }) => text ?? null),
      lines.map(({ digest }) => digest),
      lines.map(({ sequence }) => sequence ?? 0),
    ],
  );
}

/** A line with a number of its own that another line of the source has with other content. */
export interface LineConflict {
  readonly fileLine: number;
  readonly lineReference: string;
  /** Where the other one is; null: in the same file. */
  readonly otherFile: number | null;
  readonly otherLine: number;
}

/** The first report line of the stage that a stored or staged line with the same number contradicts. */
export async function findConflict(
  tx: Queryable,
  source: string,
): Promise<LineConflict | undefined> {
  const rows = await tx.query<LineConflict>(
    `select s.file_line as "fileLine", s.line_reference as "lineReference", l.file_id as "otherFile",
            l.file_line as "otherLine"
       from settlement_stage s
       join (select file_id, file_line, line_reference, digest from settlement_lines
              where source = $1 and kind = 'settlement_line' and line_reference is not null
             union all
             select null, file_line, line_reference, digest from settlement_stage where type <> 'bank') l
         on l.line_reference = s.line_reference and l.digest <> s.digest
      where s.type <> 'bank'
      order by s.number
      limit 1`,
    [source],
  );
  return rows[0];
}

/**
 * The place of the first report line of the stage that the file has stored with other content; undefined: none. A
 * row of a report begins on a line of its own. An entry of a statement need not.
 */
export async function findChangedRow(tx: Queryable, fileId: number): Promise<number | undefined> {
  const rows = await tx.query<{ fileLine: number }>(
    `select s.file_line as "fileLine"
       from settlement_stage s
       join settlement_lines l on l.file_id = $1 and l.file_line = s.file_line and l.digest <> s.digest
      where s.type <> 'bank'
      order by s.number
      limit 1`,
    [fileId],
  );
  return rows[0]?.fileLine;
}

export interface StoredStage {
  readonly newLines: number;
  /** The new lines have higher numbers. */
  readonly afterId: number;
}

/** Stores the settlements and lines of the stage that are not stored. */
export async function storeStage(
  tx: Queryable,
  { fileId, source }: { readonly fileId: number; readonly source: string },
): Promise<StoredStage> {
  await tx.query(
    `insert into settlements (source, reference, currency)
     select distinct $1, settlement, currency from settlement_stage where settlement is not null
     order by settlement, currency
     on conflict do nothing`,
    [source],
  );
  const rows = await tx.query<StoredStage>(
    `with stored as (
       insert into settlement_lines (file_id, file_line, source, kind, type, settlement_id, reference,
                                     line_reference, day, currency, gross_minor, fee_minor, text, digest,
                                     occurrence)
       select $1, s.file_line, $2, case when s.type = 'bank' then '${lineKindOf('bank')}'
                                       else '${lineKindOf('fee')}' end,
              s.type, t.id, s.reference, s.line_reference, s.day, s.currency, s.gross_minor, s.fee_minor,
              s.text, s.digest,
              -- The number that the service gives a line identifies it: another row with it is the same line.
              case when s.type <> 'bank' and s.line_reference is not null then 1
                   else row_number() over (partition by s.digest, s.sequence order by s.number) end
         from settlement_stage s
         left join settlements t on t.source = $2 and t.reference = s.settlement
                                and t.currency = s.currency
        order by s.number
       on conflict (source, digest, occurrence) do nothing
       returning id)
     select count(*) as "newLines", coalesce(min(id) - 1, 0) as "afterId" from stored`,
    [fileId, source],
  );
  return rows[0] ?? { newLines: 0, afterId: 0 };
}

/** A stored line, as far as postings and matches depend on it. */
export interface StoredLine {
  readonly id: number;
  readonly type: LineType;
  readonly settlementId: number | null;
  readonly reference: string | null;
  readonly day: string;
  readonly currency: string;
  readonly grossMinor: number;
  readonly feeMinor: number;
  readonly text: string | null;
  readonly digest: string;
}

const LINE_COLUMNS = `
  l.id, l.type, l.settlement_id as "settlementId", l.reference, l.day::text as day, l.currency,
  l.gross_minor as "grossMinor", l.fee_minor as "feeMinor", l.text, encode(l.digest, 'hex') as digest`;

export function readLinesOfFile(
  tx: Queryable,
  {
    fileId,
    afterId,
    limit,
  }: { readonly fileId: number; readonly afterId: number; readonly limit: number },
): Promise<readonly StoredLine[]> {
  return tx.query<StoredLine>(
    `select ${LINE_COLUMNS} from settlement_lines l
      where l.file_id = $1 and l.id > $2
      order by l.id
      limit $3`,
    [fileId, afterId, limit],
  );
}

export async function readLine(tx: Queryable, id: number): Promise<StoredLine | undefined> {
  const rows = await tx.query<StoredLine>(
    `select ${LINE_COLUMNS} from settlement_lines l where l.id = $1 limit 1`,
    [id],
  );
  return rows[0];
}

/** What the legs of a line have posted. */
export function readPosted(
  tx: Queryable,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<readonly (PostedLineLeg & { readonly leg: string })[]> {
  return tx.query(
    `select distinct on (leg) leg, leg_seq as seq, cumulative_minor as "cumulativeMinor",
            (extract(epoch from effective_at) * 1000000)::bigint as "effectiveMicros"
       from transfers
      where kind = $1 and resource_id = $2
      order by leg, leg_seq desc
      limit 100`,
    [kind, id],
  );
}
