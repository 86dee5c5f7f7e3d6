/** Records an export of the journal, which takes the whole ledger out of Tallyhook. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { JournalFormatName } from '../ledger/read/exportJournal.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface ExportParts {
  readonly db: Queryable;
  /** Writes the export. @returns the number of transfers */
  readonly write: () => Promise<number>;
}

export interface ExportInput {
  readonly format: JournalFormatName;
  /** Microseconds since 1970. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** The file; undefined for standard output. */
  readonly output: string | undefined;
}

export function exportJournalAs(
  { db, write }: ExportParts,
  actor: Actor,
  { format, from, to, output }: ExportInput,
): Promise<void> {
  const intent = {
    actor,
    action: 'journal.export',
    subject: { kind: 'journal', id: format },
    detail: {
      output: output ?? null,
      ...(from !== undefined && { from: formatInstant(from) }),
      ...(to !== undefined && { to: formatInstant(to) }),
    },
  } as const;
  const work = async () => {
    const transfers = await write();
    return { value: undefined, result: 'done', detail: { transfers } } as const;
  };
  return recordAttempt(db, intent, work, 'failed');
}
