/** What `tallyhook status --watch` writes to a terminal and to a pipe. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openerOf } from '../../../src/cli/browser.ts';
import { withInvocation } from '../../../src/cli/invocation.ts';
import { createScreen } from '../../../src/cli/screen.ts';
import type { Line } from '../../../src/cli/style.ts';

const LINES: readonly Line[] = [
  { text: 'all is well', look: 'good' },
  { text: 'a long line of text', look: 'plain' },
  { text: 'the last', look: 'bad' },
];

/** What each call of `show` writes. */
async function written(
  size: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number },
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const out = Object.assign(new PassThrough({ encoding: 'utf8' }), size);
  const terminal = { stdin: new PassThrough(), stdout: out, stderr: new PassThrough() };
  const shown: string[] = [];
  await withInvocation({ args: [], env, terminal }, () => {
    const screen = createScreen(out);
    for (let n = 0; n < 2; n += 1) {
      screen.show(LINES);
      shown.push(String(out.read()));
    }
    return Promise.resolve();
  });
  return shown;
}

test('a terminal is redrawn in place, one write each time, never cleared before it is written', async () => {
  const [first = '', second] = await written({ isTTY: true, columns: 80, rows: 24 });
  // What was on the screen before is moved up, not overwritten.
  expect(first.startsWith('\n'.repeat(24))).toBe(true);
  expect(second).toBe(
    '\u001b[H\u001b[32mall is well\u001b[0m\u001b[K\na long line of text\u001b[K\n' +
      '\u001b[1;31mthe last\u001b[0m\u001b[K\n\u001b[J',
  );
});

test('lines and columns that the terminal has no room for are cut, so that it does not scroll', async () => {
  const [, shown = ''] = await written({ isTTY: true, columns: 8, rows: 3 }, { NO_COLOR: '1' });
  expect(shown).toBe('\u001b[Hall is …\u001b[K\n… 2 mor…\u001b[K\n\u001b[J');
});

test('NO_COLOR leaves out every color', async () => {
  const [, shown = ''] = await written({ isTTY: true, columns: 80, rows: 24 }, { NO_COLOR: '1' });
  expect(shown).toBe(
    '\u001b[Hall is well\u001b[K\na long line of text\u001b[K\nthe last\u001b[K\n\u001b[J',
  );
});

test('a pipe gets whole lines without escape sequences, one block after the other', async () => {
  const block = 'all is well\na long line of text\nthe last\n';
  expect(await written({ columns: 8, rows: 3 })).toEqual([block, `\n${block}`]);
});

test.each([
  ['darwin', {}, 'open'],
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', { DISPLAY: '' }, undefined],
  ['linux', {}, undefined],
] as const)('on %s with %j, a browser is opened by %s', (platform, env, opener) => {
  expect(openerOf(platform, env)).toBe(opener);
});
