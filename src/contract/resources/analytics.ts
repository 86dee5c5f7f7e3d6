/** What analytics answers. service-interface.md §4.9. */
import { z } from 'zod';

const row = z.record(z.string(), z.unknown());

/** Same section: rows with a key for each group-by name and metric, and totals. */
export const metricsSchema = z.looseObject({ queryData: z.array(row), metaData: z.array(row) });
export type Metrics = z.infer<typeof metricsSchema>;
