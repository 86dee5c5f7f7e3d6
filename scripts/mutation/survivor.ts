/** A mutant that no test kills, and why none should. */
export interface Survivor {
  readonly file: string;
  readonly within: string;
  readonly code: string;
  readonly becomes: string;
  /** How many mutants it counts for, if the code occurs several times; otherwise one. */
  readonly count?: number;
  readonly reason: string;
}
