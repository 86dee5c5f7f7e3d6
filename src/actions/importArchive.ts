/** Reads archived rows back, for an operator. */
import { type ImportRange, type ImportSteps, importBatches } from '../archive/importBatches.ts';
import { clearImportedRows, insertImportedRows } from '../archive/store/importedRows.ts';
import type { ArchiveTarget } from '../archive/target.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAttempt, recordAudit } from '../audit/recordAudit.ts';
import { eraseImported } from '../erasure/eraseImported.ts';
import { importBodies } from '../ledger/bodies/archiveDay.ts';
import type { Database } from '../platform/db/database.ts';

export interface ImportParts {
  readonly db: Database;
  readonly target: ArchiveTarget;
  readonly onProgress?: ImportSteps['onProgress'];
}

export interface Imported {
  /** Rows in the range. */
  readonly read: number;
  readonly stored: number;
}

/**
 * Imports bodies into the ledger, and rows of another class into the table `imported_rows`. Each transaction
 * stores some rows, and storing them again changes nothing: an import that was interrupted is repeated.
 */
export function importArchiveAs(
  { db, target, onProgress }: ImportParts,
  actor: Actor,
  { range, reason }: { readonly range: ImportRange; readonly reason: string },
): Promise<Imported> {
  const { className, first, last } = range;
  const intent = {
    actor,
    action: 'archive.restore',
    subject: { kind: 'archive', id: className },
    reason,
    detail: { first_key: String(first), last_key: String(last) },
  } as const;
  const work = async () => {
    const store: ImportSteps['store'] = (rows) =>
      db.transaction((tx) =>
        className === 'bodies'
          ? importBodies(tx, rows, eraseImported)
          : insertImportedRows(tx, className, rows),
      );
    const imported = await importBatches(target, range, { store, onProgress });
    return { value: imported, result: 'done', detail: { ...imported } } as const;
  };
  return recordAttempt(db, intent, work, 'failed');
}

/** Deletes every imported row. @returns how many */
export function clearImportAs(db: Database, actor: Actor): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await clearImportedRows(tx);
    if (rows > 0) {
      const subject = { kind: 'archive', id: 'imported_rows' };
      await recordAudit(tx, { actor, action: 'archive.clear', subject, detail: { rows } });
    }
    return rows;
  });
}
