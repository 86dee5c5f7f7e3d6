/** A part of the output that is written again and again: in place on a terminal, else one below the other. */
import type { Output } from './invocation.ts';
import { type Line, styled, styleOf } from './style.ts';

/** Cursor to the top left; from the cursor to the end of the line; to the end of the screen. */
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

export interface Screen {
  show(lines: readonly Line[]): void;
}

/** @param out its size is read each time, because it can change */
export function createScreen(out: Output): Screen {
  let isFirst = true;
  return {
    show: (lines) => {
      const style = styleOf(out);
      if (!out.isTTY) {
        out.write(
          `${isFirst ? '' : '\n'}${lines.map((line) => `${styled(line, style)}\n`).join('')}`,
        );
        isFirst = false;
        return;
      }
      // What the terminal showed before moves up, and can be scrolled back to.
      if (isFirst) out.write('\n'.repeat(out.rows ?? 0));
      isFirst = false;
      const shown = fitted(lines, out.rows).map((line) => styled(line, style));
      // One write, and each line is overwritten before its rest is cleared: nothing flickers.
      const text = shown.map((line) => `${line}${CLEAR_LINE}\n`).join('');
      out.write(`${HOME}${text}${CLEAR_BELOW}`);
    },
  };
}

/** The last row stays free for the cursor: text in it would scroll the screen. */
function fitted(lines: readonly Line[], rows: number | undefined): readonly Line[] {
  if (rows === undefined || lines.length < rows) return lines;
  const shown = lines.slice(0, Math.max(1, rows - 2));
  return [...shown, { text: `… ${lines.length - shown.length} more lines`, look: 'plain' }];
}
