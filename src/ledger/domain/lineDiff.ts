/**
 * What differs between two texts, line by line.
 *
 * 1. Every line of both texts is in exactly one row, in its order; a row with both sides has equal lines.
 * 2. As many lines as possible are equal, unless the differing middle is longer than `MAX_CELLS` allows:
 *    then the whole middle counts as different.
 */
export interface DiffRow {
  /** Undefined: the line is only on the right. */
  readonly left: string | undefined;
  /** Undefined: the line is only on the left. */
  readonly right: string | undefined;
}

const MAX_CELLS = 1_000_000;

export function diffLines(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  const start = commonStart(left, right);
  const rest = [left.slice(start), right.slice(start)] as const;
  const tail = commonStart(rest[0].toReversed(), rest[1].toReversed());
  const middleLeft = rest[0].slice(0, rest[0].length - tail);
  const middleRight = rest[1].slice(0, rest[1].length - tail);
  const same = (lines: readonly string[]) => lines.map((line) => ({ left: line, right: line }));
  return [
    ...same(left.slice(0, start)),
    ...diffMiddle(middleLeft, middleRight),
    ...same(left.slice(left.length - tail)),
  ];
}

function commonStart(left: readonly string[], right: readonly string[]): number {
  const shorter = Math.min(left.length, right.length);
  let length = 0;
  while (length < shorter && left[length] === right[length]) length += 1;
  return length;
}

function diffMiddle(left: readonly string[], right: readonly string[]): readonly DiffRow[] {
  if (left.length * right.length > MAX_CELLS) {
    return [...left.map(onlyLeft), ...right.map(onlyRight)];
  }
  const lengths = commonLengths(left, right);
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  const rows: DiffRow[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [one, other] = [left[row], right[column]];
    if (one !== undefined && one === other) {
      rows.push({ left: one, right: other });
      row += 1;
      column += 1;
    } else if (
      one !== undefined &&
      (other === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      rows.push(onlyLeft(one));
      row += 1;
    } else if (other !== undefined) {
      rows.push(onlyRight(other));
      column += 1;
    }
  }
  return rows;
}

const onlyLeft = (line: string): DiffRow => ({ left: line, right: undefined });
const onlyRight = (line: string): DiffRow => ({ left: undefined, right: line });

/** For each pair of places the length of the longest common subsequence from there on. */
function commonLengths(
  left: readonly string[],
  right: readonly string[],
): readonly (readonly number[])[] {
  const lengths: number[][] = [];
  let below: number[] = Array(right.length + 1).fill(0);
  for (let row = left.length - 1; row >= 0; row -= 1) {
    const current: number[] = Array(right.length + 1).fill(0);
    for (let column = right.length - 1; column >= 0; column -= 1) {
      current[column] =
        left[row] === right[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, current[column + 1] ?? 0);
    }
    lengths[row] = current;
    below = current;
  }
  return lengths;
}
