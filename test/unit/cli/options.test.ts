import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { shellWord } from '../../../src/cli/commands/find.ts';
import { momentOption } from '../../../src/cli/options.ts';

function parse(text: string): unknown {
  return momentOption('--from', 'x').parseArg?.(text, undefined);
}

test.each([
  ['2026-11-01', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01T10:00:00Z', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00', '2026-11-01T10:00:00.000Z'],
  ['2026-11-01T10:00:00.25+02:00', '2026-11-01T08:00:00.250Z'],
])('%s is %s', (text, instant) => {
  expect(parse(text)).toBe(Date.parse(instant) * 1000);
});

test.each(['', 'yesterday', '2026-02-30', '2026-13-01', '01.11.2026', '2026-11-01T25:00:00Z', '1'])(
  '%j is refused, and the message shows what to give',
  (text) => {
    expect(() => parse(text)).toThrow(InvalidArgumentError);
    expect(() => parse(text)).toThrow(/2026-11-01T10:00:00Z/);
  },
);

test.each([
  ['pay_1', 'pay_1'],
  ['a:b/c+d@e.f', 'a:b/c+d@e.f'],
  ['run 7', "'run 7'"],
  ["it's $(rm)", `'it'\\''s $(rm)'`],
  ['--help', '-- --help'],
  ['größe', "'größe'"],
])('%s is one word of a command line: %s', (id, word) => {
  expect(shellWord(id)).toBe(word);
});
