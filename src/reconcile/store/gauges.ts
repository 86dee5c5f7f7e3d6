/** Statements for the gauges of reconciliation; each reads a bounded number of rows. */
import type { Queryable } from '../../platform/db/database.ts';

export interface WatermarkMeasure {
  readonly stream: string;
  /** Seconds since 1970. */
  readonly watermarkSeconds: number;
}

/** How far each list was read; without lists that never were. */
export function measureWatermarks(db: Queryable): Promise<readonly WatermarkMeasure[]> {
  return db.query<WatermarkMeasure>(
    `select stream, extract(epoch from watermark_at)::float8 as "watermarkSeconds"
       from reconcile_streams where watermark_at is not null`,
  );
}
