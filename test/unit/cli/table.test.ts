import { expect, test } from 'vitest';
import { tableText } from '../../../src/cli/table.ts';

const HEADINGS = ['ID', 'SENTENCE', 'STATE'];

test('outside a terminal a row is one line of any length, without escape sequences', () => {
  const long = 'a sentence '.repeat(30).trim();
  expect(tableText(HEADINGS, [['1', long, 'open']], undefined).split('\n')).toEqual([
    `ID  SENTENCE${' '.repeat(long.length - 8)}  STATE`,
    `1   ${long}  open`,
  ]);
});

test('on a terminal the widest column wraps, and no text is lost, even in a long word', () => {
  const id = 'pay_0123456789abcdefghijklmnopqrstuvwxyz';
  const lines = tableText(['ID', 'STATE'], [[id, 'open']], 40)
    .split('\n')
    .slice(1);
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  expect(lines.map((line) => line.replace('open', '').trim()).join('')).toBe(id);
});

test('a table that fits is not wrapped, and wide characters take two columns', () => {
  const text = tableText(
    HEADINGS,
    [
      ['1', '日本', 'open'],
      ['2', 'abcd', 'open'],
    ],
    80,
  );
  expect(text.split('\n').slice(1)).toEqual(['1   日本      open', '2   abcd      open']);
});

test('control characters are replaced, so that text from outside cannot drive the terminal', () => {
  const text = tableText(HEADINGS, [['1', 'x\u001b[2J\ny', 'open']], undefined);
  expect(text).toContain('1   x\uFFFD[2J\uFFFDy   open');
});
