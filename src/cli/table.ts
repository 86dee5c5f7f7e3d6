/** Tables for people. */
import Table from 'cli-table3';
import { printable } from '../platform/printable.ts';
import { printEscaped, terminal } from './invocation.ts';

/** Columns are separated by two spaces, rows by nothing. */
const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;

/** Narrower than this, a wrapped column is harder to read than a table that is too wide. */
const MIN_WRAPPED_WIDTH = 20;

interface Layout {
  readonly headStyle: readonly string[];
  readonly widths: readonly number[];
}

/** Prints rows under headings, in columns. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const { isTTY, columns } = terminal().stdout;
  printEscaped(tableText(headings, rows, isTTY ? columns : undefined));
}

/**
 * On a terminal the headings are bold, and the widest column wraps where the table would not fit.
 * Anywhere else each row is one line without escape sequences, for `grep` and `awk`.
 * @param terminalWidth undefined where the output is not a terminal
 */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  terminalWidth: number | undefined,
): string {
  // Text from outside must not move the cursor or change the colors of a terminal.
  const cells = rows.map((row) => row.map(printable));
  const plain = render(headings, cells, { headStyle: [], widths: [] });
  if (terminalWidth === undefined) return plain.text;
  const widths = wrapWidest(plain.widths, terminalWidth);
  return render(headings, cells, { headStyle: ['bold'], widths }).text;
}

/** @returns the text, and the width of each column in it */
function render(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { headStyle, widths }: Layout,
): { readonly text: string; readonly widths: readonly number[] } {
  const table = new Table({
    head: [...headings],
    colWidths: [...widths],
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [...headStyle], border: [] },
    wordWrap: true,
    // Within a word, too: an id that was cut off could not be copied.
    wrapOnWordBoundary: false,
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table.toString().split('\n');
  return {
    text: lines.map((line) => line.trimEnd()).join('\n'),
    widths: table.options.colWidths.map((width) => width ?? 0),
  };
}

function wrapWidest(widths: readonly number[], terminalWidth: number): readonly number[] {
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  const widest = widths.indexOf(Math.max(...widths));
  return widths.map((width, column) =>
    column === widest && total > terminalWidth
      ? Math.min(width, Math.max(MIN_WRAPPED_WIDTH, width - (total - terminalWidth)))
      : width,
  );
}
