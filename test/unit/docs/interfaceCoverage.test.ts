/** docs/interface-coverage.md: what the statements say now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCoverage } from '../../../scripts/writeCoverage.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { STATEMENTS } from '../../conformance/statements/index.ts';

test('the document is what the statements say now; `npm run generate` writes it', () => {
  const written = readFileSync(join(packageRoot(), 'docs/interface-coverage.md'), 'utf8');
  expect(written).toBe(writeCoverage(STATEMENTS));
});

test('a statement stands once in its section', () => {
  const titles = STATEMENTS.map(({ section, line, kind, says }) =>
    [section, line, kind, says].join(' '),
  );
  expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
});

test('every line of the document that states something has a statement', () => {
  const lines = new Set(STATEMENTS.map(({ line }) => line));
  const missing = STATING_LINES.filter((line) => !lines.has(line));
  expect(missing).toEqual([]);
});

const span = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_none, index) => from + index);

/** Every line of the document but headings, heads of tables, and lines that only introduce others. */
const STATING_LINES: readonly number[] = [
  ...[7, ...span(9, 17), ...span(21, 27)],
  ...[...span(35, 60), 62, ...span(70, 79), 81, 83, 85, 87, 91, 92, ...span(98, 106)],
  ...[110, 114, 118, 122, 126, ...span(134, 141), 143, ...span(149, 154), 156, 160, 164, 168],
  ...[172, 176, 180, ...span(184, 186), 188, 192, ...span(196, 214), 216, 218, 220, 222, 224, 226],
  ...[...span(230, 236), 238, 240, 242, 244, 246, ...span(250, 256), 258, 260, 262],
  ...[...span(266, 268), 270, 272, 274, 276, 278, 280, 282, 286, 290, ...span(294, 299), 301, 303],
  ...[307, 309, ...span(313, 330), 332, 334, 340, 344, ...span(348, 372), 374, 376],
  ...[...span(380, 387), 389, 391, 393, 395, 399, ...span(403, 409), 411, 413, ...span(419, 441)],
  ...[443, 447, ...span(452, 455), ...span(457, 461), 465, ...span(471, 476), ...span(479, 485)],
  ...[491, ...span(497, 508), 512, ...span(518, 529), 531, ...span(537, 547), 549, 553],
  ...[
    ...span(557, 562),
    564,
    ...span(568, 619),
    621,
    625,
    ...span(631, 638),
    640,
    ...span(644, 648),
  ],
];
