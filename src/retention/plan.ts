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
  /** Days past their retention that are not removable yet; 0 where rows are removed and not days. */
  readonly waitingDays: number;
  readonly removedRows: number;
  /** What `removedRows` counts, where it is not rows. */
  readonly unit: 'days' | undefined;
  /** How long ago nothing was left to remove; undefined before the first run. */
  readonly behindMs: number | undefined;
}

export async function planRetention(
  db: Database,
  days: RetentionDays,
): Promise<readonly ClassPlan[]> {
  const classes = retentionClasses();
  const tables = classes.flatMap((one) => one.tables);
  const sizes = new Map((await readTableSizes(db, tables)).map((size) => [size.table, size]));
  const states = new Map((await readStates(db)).map((state) => [state.name, state]));
  const plans: ClassPlan[] = [];
  for (const { name, tables: own, measure, unit } of classes) {
    const [table] = own;
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
      bytes: own.reduce((sum, one) => sum + (sizes.get(one)?.bytes ?? 0), 0),
      oldest: measured.oldest,
      removable: Math.min(removable, COUNTED_ROWS - 1),
      isMoreRemovable: removable >= COUNTED_ROWS,
      waitingDays: days[name] === undefined ? 0 : (measured.waitingDays ?? 0),
      removedRows: states.get(name)?.removedRows ?? 0,
      unit,
      behindMs: states.get(name)?.behindMs,
    });
  }
  return plans;
}
