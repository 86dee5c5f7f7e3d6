/** The response of analytics. service-interface.md §4.9. */
import { z } from 'zod';

const row = z.record(z.string(), z.unknown());

/** Rows with a key for each grouping and metric, and totals. service-interface.md §4.9. */
export const metricsSchema = z.looseObject({ queryData: z.array(row), metaData: z.array(row) });
export type Metrics = z.infer<typeof metricsSchema>;
