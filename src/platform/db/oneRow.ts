/** The row of a statement that always returns one, such as an aggregate or an insert. @throws Error if it returned none */
export function oneRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('a statement that always returns a row returned none');
  return row;
}
