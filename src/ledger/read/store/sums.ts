/** Sums of amounts, which may exceed the exact integers: statements return them as text. */

/** A row as its statement returns it. */
export type SumsAsText<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends bigint ? string : Row[Name];
};
