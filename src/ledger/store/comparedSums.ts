/** Parts of statements that compare stored sums with those of the journal. */
export interface Difference {
  readonly subject: string;
  /** Columns as text; null where there is no row. */
  readonly expected: Readonly<Record<string, string | null>>;
  readonly stored: Readonly<Record<string, string | null>>;
}

export interface Compared {
  /** Rows that are stored or should be. */
  readonly checked: number;
  readonly differences: readonly Difference[];
}

/** One run names so many differences of a range. */
const MAX_DIFFERENCES = 100;

/** Where a row is missing, its sums are zero: a row of zeros may remain, and is equal to none. */
export const textsOf = (row: string, columns: readonly string[]) =>
  `jsonb_build_object(${columns.map((name) => `'${name}', coalesce(${row}.${name}, 0)::text`).join(', ')})`;

/** The first differences of `both_of`, which has a subject, and what is expected and stored. */
export const COMPARED = `
     select count(*) as checked,
            coalesce(jsonb_path_query_array(
              jsonb_agg(jsonb_build_object('subject', subject, 'expected', expected, 'stored', stored)
                        order by subject) filter (where expected is distinct from stored),
              '$[0 to ${MAX_DIFFERENCES - 1}]'), '[]') as differences
       from both_of`;
