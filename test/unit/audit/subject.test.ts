/** The subjects of the audit log, as people write them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseSubject } from '../../../src/audit/domain/subject.ts';

const SOURCES = new URL('../../../src/', import.meta.url).pathname;

/** The kinds of the literals `{ kind: 'payment', id… }` in the sources: those of subjects, and of others. */
const KINDS = [
  ...new Set(
    readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => readFileSync(join(SOURCES, path), 'utf8'))
      .flatMap((source) => [...source.matchAll(/\{ kind: '([^']+)', id\b/g)])
      .map(([, kind = '']) => kind),
  ),
];

test('the subjects that Tallyhook records are found in the sources', () => {
  expect(KINDS).toEqual(expect.arrayContaining(['payment', 'settlement_line', 'settlement_file']));
});

test.each(KINDS)('a subject of the kind %s can be a filter', (kind) => {
  expect(parseSubject(`${kind}:12`)).toEqual({ kind, id: '12' });
});

test.each(['payment', ':pay_1', 'payment:', 'Payment:pay_1', 'pay-ment:1', 'payment:a\0b'])(
  'anything else is none: %j',
  (text) => {
    expect(parseSubject(text)).toBeUndefined();
  },
);
