/**
 * Scanning a table in the order of a number for rows to remove. A scan reads a bounded number of rows after
 * a position, wherever the removable ones are, so that each step costs the same.
 */
export interface ScanRequest {
  /** Rows that ended before are past their retention. */
  readonly before: Date;
  /** Only rows with a greater number; 0 begins with the first. */
  readonly after: number;
  readonly limit: number;
}

export interface ScannedRow {
  readonly key: number;
  /** False: this row and those after it are too new. */
  readonly isPast: boolean;
  readonly isRemovable: boolean;
}

export interface Scanned {
  /** The numbers of the rows to remove. */
  readonly keys: readonly number[];
  /** Where the next scan continues; undefined at the end. */
  readonly last: number | undefined;
}

/** @param rows in the order of their numbers */
export function scanned(rows: readonly ScannedRow[], { limit }: ScanRequest): Scanned {
  const keys = rows.flatMap(({ key, isRemovable }) => (isRemovable ? [key] : []));
  const end = rows.at(-1);
  return { keys, last: end?.isPast && rows.length >= limit ? end.key : undefined };
}

/** What is known of a class of rows. Counts stop at COUNTED_ROWS and then mean "more". */
export interface MeasuredRows {
  readonly rows: number;
  readonly oldest: Date | null;
  readonly removable: number;
  /** Days past their retention that are not removable yet, in a class that is removed by days. */
  readonly waitingDays?: number;
}

/** One more than is shown exactly. */
export const COUNTED_ROWS = 10_001;

export const NO_ROWS: MeasuredRows = { rows: 0, oldest: null, removable: 0 };
