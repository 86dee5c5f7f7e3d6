/** Where a test records what it counted, for `npm run prove`: before it expects anything, so that a failure is recorded, too. */
import { appendFileSync } from 'node:fs';
import { type FigureRecord, figureRecord } from '../../scripts/prove/records.ts';

/** Appends one line to the file that FIGURES_FILE names; without it, only checks the form. */
export function recordFigures(record: FigureRecord): void {
  const line = `${JSON.stringify(figureRecord.parse(record))}\n`;
  const { FIGURES_FILE: file } = process.env;
  if (file !== undefined) appendFileSync(file, line);
}
