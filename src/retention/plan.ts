/** What is stored of each class, and what the next run removes. */
import type { RetentionDays } from '../config/retentionSettings.ts';
import type { Database } from '../platform/db/database.ts';
import { COUNTED_ROWS } from '../platform/db/scannedRows.ts';
import { type ClassName, retentionClasses } from './classes.ts';
import { readCutoff, readStates } from './store/state.ts';
import { readTableSizes } from './store/tables.ts';

export interface ClassPlan {
  readonly name: ClassName;
  readonly table: string;
  /** Undefined: never. */
  readonly days: number | undefined;
  readonly rows: number;
  readonly areRowsEstimated: boolean;
  /** With indexes and TOAST. */
  readonly bytes: number;
  readonly oldest: Date | null;
  readonly removable: number;
  /** There are more than `removable`. */
  readonly isMoreRemovable: boolean;
  readonly removedRows: number;
  /** How long ago nothing was left to remove; undefined before the first run. */
  readonly behindMs: number | undefined;
}

export async function planRetention(
  db: Database,
  days: RetentionDays,
): Promise<readonly ClassPlan[]> {
  const classes = retentionClasses();
  const tables = classes.map(({ table }) => table);
  const sizes = new Map((await readTableSizes(db, tables)).map((size) => [size.table, size]));
  const states = new Map((await readStates(db)).map((state) => [state.name, state]));
  const plans: ClassPlan[] = [];
  for (const { name, table, measure } of classes) {
    const measured = await measure(db, await readCutoff(db, days[name] ?? 0));
    const size = sizes.get(table);
    const areRowsEstimated = measured.rows >= COUNTED_ROWS;
    const removable = days[name] === undefined ? 0 : measured.removable;
    plans.push({
      name,
      table,
      days: days[name],
      rows: areRowsEstimated ? Math.max(measured.rows, size?.estimatedRows ?? 0) : measured.rows,
      areRowsEstimated,
      bytes: size?.bytes ?? 0,
      oldest: measured.oldest,
      removable: Math.min(removable, COUNTED_ROWS - 1),
      isMoreRemovable: removable >= COUNTED_ROWS,
      removedRows: states.get(name)?.removedRows ?? 0,
      behindMs: states.get(name)?.behindMs,
    });
  }
  return plans;
}
