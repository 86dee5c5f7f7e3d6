/** The rows of a list to read. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}
