/** Records an export of the journal, which takes the whole ledger out of Tallyhook. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { JournalFormatName } from '../ledger/read/exportJournal.ts';
import type { TransferQuery } from '../ledger/read/transferList.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface ExportParts {
  readonly db: Queryable;
  /** Writes the export. @returns the number of transfers */
  readonly write: () => Promise<number>;
}

export interface ExportInput {
  readonly format: JournalFormatName;
  readonly query: TransferQuery;
  /** The file; undefined for standard output. */
  readonly output: string | undefined;
}

export function exportJournalAs(
  { db, write }: ExportParts,
  actor: Actor,
  { format, query, output }: ExportInput,
): Promise<void> {
  const intent = {
    actor,
    action: 'journal.export',
    subject: { kind: 'journal', id: format },
    detail: {
      output: output ?? null,
      ...detailOf(query),
    },
  } as const;
  const work = async () => {
    const transfers = await write();
    return { value: undefined, result: 'done', detail: { transfers } } as const;
  };
  return recordAttempt(db, intent, work, 'failed');
}

/** What was selected, without what was not. */
function detailOf({ fromMicros, toMicros, ...query }: TransferQuery) {
  const selected = {
    from: fromMicros === undefined ? undefined : formatInstant(fromMicros),
    to: toMicros === undefined ? undefined : formatInstant(toMicros),
    account: query.account,
    order: query.orderId,
    resource: query.resourceId,
    currency: query.currency,
    min_amount: query.minMinor,
    max_amount: query.maxMinor,
  };
  return Object.fromEntries(Object.entries(selected).filter(([, value]) => value !== undefined));
}
