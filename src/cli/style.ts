/** What a terminal shows in color, and how much of a line it has room for. */

import { printable } from '../platform/printable.ts';
import { readSettings } from './context.ts';
import type { Output } from './invocation.ts';

export type Look = 'good' | 'warn' | 'bad' | 'heading' | 'plain';

/** A line of text, and how it looks where there is color. */
export interface Line {
  readonly text: string;
  readonly look: Look;
}

export interface Style {
  readonly hasColor: boolean;
  /** Columns of a line; undefined where lines may be of any length. */
  readonly width: number | undefined;
}

const CODES: Readonly<Record<Look, string>> = {
  good: '32',
  warn: '33',
  bad: '1;31',
  heading: '1',
  plain: '',
};

/** A file or a pipe gets whole lines without escape sequences. `NO_COLOR`: https://no-color.org */
export function styleOf({ isTTY, columns }: Output): Style {
  if (!isTTY) return { hasColor: false, width: undefined };
  return { hasColor: !readSettings().NO_COLOR, width: columns };
}

/** The line as it is written. A longer one is cut: what wraps would move the lines below it. */
export function styled({ text, look }: Line, { hasColor, width }: Style): string {
  const printed = printable(text);
  const letters = [...printed];
  const isLong = width !== undefined && letters.length > width;
  const shown = isLong ? `${letters.slice(0, width - 1).join('')}…` : printed;
  return hasColor && look !== 'plain' ? `\u001b[${CODES[look]}m${shown}\u001b[0m` : shown;
}
