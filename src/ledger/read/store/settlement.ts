/** Statements that list imported files and their lines. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { LineType, MatchRule, TargetKind } from '../../domain/lines.ts';
import { micros } from './instants.ts';

export interface ImportedFileRow {
  readonly id: number;
  readonly source: string;
  readonly format: string;
  readonly name: string;
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string;
  readonly lines: number;
  readonly newLines: number;
  readonly ignored: number;
  /** Of its new lines: those that can be matched, and are not. */
  readonly unmatched: number;
  readonly importedBy: string;
  readonly importedMicros: number;
}

const FILE = `f.id, f.source, f.format, f.name, encode(f.digest, 'hex') as digest, f.lines,
  f.new_lines as "newLines", f.ignored, f.imported_by as "importedBy",
  ${micros('f.imported_at')} as "importedMicros",
  (select count(*) from settlement_lines l
    where l.file_id = f.id and l.type not in ('fee', 'adjustment')
      and not exists (select from settlement_matches m
                       where m.line_id = l.id and m.undone_at is null)) as unmatched`;

/** Newest first. */
export function readFiles(
  db: Queryable,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<readonly ImportedFileRow[]> {
  return db.query<ImportedFileRow>(
    `select ${FILE} from settlement_files f
      where $1::bigint is null or f.id < $1
      order by f.id desc
      limit $2`,
    [before ?? null, limit],
  );
}

export async function readFile(db: Queryable, id: number): Promise<ImportedFileRow | undefined> {
  const rows = await db.query<ImportedFileRow>(
    `select ${FILE} from settlement_files f where f.id = $1 limit 1`,
    [id],
  );
  return rows[0];
}

export interface ListedLine {
  readonly id: number;
  readonly file: number;
  readonly fileLine: number;
  readonly type: LineType;
  readonly settlementId: number | null;
  readonly settlement: string | null;
  readonly reference: string | null;
  readonly lineReference: string | null;
  readonly day: string;
  readonly currency: string;
  readonly grossMinor: number;
  readonly feeMinor: number;
  readonly text: string | null;
  readonly targetKind: TargetKind | null;
  readonly targetId: string | null;
  readonly rule: MatchRule | null;
  readonly reason: string | null;
  readonly writtenOffMinor: number | null;
  readonly matchedBy: string | null;
  readonly matchedMicros: number | null;
}

const LINE = `l.id, l.file_id as file, l.file_line as "fileLine", l.type, l.settlement_id as "settlementId",
  s.reference as settlement, l.reference, l.line_reference as "lineReference", l.day::text as day,
  l.currency, l.gross_minor as "grossMinor", l.fee_minor as "feeMinor", l.text,
  m.target_kind as "targetKind", m.target_id as "targetId", m.rule, m.reason,
  m.written_off_minor as "writtenOffMinor", m.matched_by as "matchedBy",
  ${micros('m.matched_at')} as "matchedMicros"`;

/** The lines that a file added, in the order of their numbers. */
export function readLinesWithMatches(
  db: Queryable,
  { file, after, limit }: { readonly file: number; readonly after: number; readonly limit: number },
): Promise<readonly ListedLine[]> {
  return db.query<ListedLine>(
    `select ${LINE}
       from settlement_lines l
       left join settlements s on s.id = l.settlement_id
       left join settlement_matches m on m.line_id = l.id and m.undone_at is null
      where l.file_id = $1 and l.id > $2
      order by l.id
      limit $3`,
    [file, after, limit],
  );
}
