/** A row of a table as a line of JSON without a line end, for the archive. */
export interface RowLine {
  readonly key: number;
  readonly line: string;
}
