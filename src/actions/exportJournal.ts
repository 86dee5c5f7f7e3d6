/** Records an export of the journal, which takes the whole ledger out of Tallyhook. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt } from '../audit/recordAudit.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { EntryExport } from '../ledger/read/exportEntries.ts';
import type { TransferQuery } from '../ledger/read/transferList.ts';
import type { Queryable } from '../platform/db/database.ts';

export interface ExportParts {
  readonly db: Queryable;
  /** Writes the export. @returns the number of transfers */
  readonly write: () => Promise<number>;
}

export interface ExportInput {
  readonly format: string;
  /** What was selected, as `transfersSelected` or `entriesSelected` describe it. */
  readonly selected: Readonly<Record<string, unknown>>;
  /** The file; undefined for standard output. */
  readonly output: string | undefined;
}

export function exportJournalAs(
  { db, write }: ExportParts,
  actor: Actor,
  { format, selected, output }: ExportInput,
): Promise<void> {
  const intent = {
    actor,
    action: 'journal.export',
    subject: { kind: 'journal', id: format },
    detail: { output: output ?? null, ...selected },
  } as const;
  const work = async () => {
    const transfers = await write();
    return { value: undefined, result: 'done', detail: { transfers } } as const;
  };
  return recordAttempt(db, intent, work, 'failed');
}

/** What was selected of the transfers, without what was not. */
export function transfersSelected({ basis, fromMicros, toMicros, ...query }: TransferQuery) {
  return withoutUndefined({
    time: basis,
    from: fromMicros === undefined ? undefined : formatInstant(fromMicros),
    to: toMicros === undefined ? undefined : formatInstant(toMicros),
    account: query.account,
    order: query.orderId,
    resource: query.resourceId,
    currency: query.currency,
    min_amount: query.minMinor,
    max_amount: query.maxMinor,
  });
}

/** The same of the entries of a general ledger. */
export function entriesSelected({ range, isDaily }: EntryExport) {
  return withoutUndefined({
    entries: isDaily ? 'day' : 'transfer',
    time: range.basis,
    time_zone: range.timeZone,
    from: range.fromDay,
    to: range.toDay,
    currency: range.currency,
  });
}

function withoutUndefined(all: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
