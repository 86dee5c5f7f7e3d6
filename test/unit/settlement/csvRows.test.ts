/** CSV: what is no CSV is refused with its place, and every limit with its boundary (csvRows.ts). */
import { describe, expect, test } from 'vitest';
import { type CsvForm, createCsvReader } from '../../../src/settlement/domain/csvRows.ts';
import { problemOf } from '../../support/problemOf.ts';

const FORM: CsvForm = { delimiter: ',', lastLineEnds: true };

function read(content: string, form: Partial<CsvForm> = {}) {
  const reader = createCsvReader({ ...FORM, ...form });
  return [...reader.push(content), ...reader.end()];
}

const texts = (content: string, form: Partial<CsvForm> = {}) =>
  read(content, form).map((row) => row.map(({ text }) => text));

describe('rule 1: what the format does not allow is refused with its place', () => {
  test.each([
    [
      'a quote within a field',
      'x,a"b\n',
      'line 1, column 4: a quote is within a field that does not begin with one',
    ],
    ['text after a closing quote', 'x\n"a"b\n', 'line 2, column 4: text follows a closing quote'],
    ['a lone carriage return', 'x\ry\n', 'line 1, column 3: a carriage return without a line feed'],
    [
      'a control character',
      'x\ny,\u007F\n',
      'line 2, column 3: a control character: the file is not text, or has another encoding',
    ],
  ])('%s', (_name, content, problem) => {
    expect(problemOf(() => read(content))).toBe(problem);
  });

  test('a file may be delimited by tabs', () => {
    expect(texts('a\tb\n', { delimiter: '\t' })).toEqual([['a', 'b']]);
  });

  test('a field has the place at which it begins', () => {
    expect(read('a,b\n\n"c\nd",🙂,e\n')).toEqual([
      [
        { line: 1, column: 1, text: 'a' },
        { line: 1, column: 3, text: 'b' },
      ],
      [
        { line: 3, column: 1, text: 'c\nd' },
        { line: 4, column: 4, text: '🙂' },
        { line: 4, column: 6, text: 'e' },
      ],
    ]);
  });
});

describe('rule 2: a file that ends within quotes, or within a line, was cut', () => {
  test('quotes that never end are refused where they begin', () => {
    expect(problemOf(() => read('x,"a\nb\n'))).toBe(
      'line 1, column 3: the quotes that begin here never end: the file was cut',
    );
  });

  const ended = (text: string) =>
    `the last line does not end, so the file may be cut after ${text}. Download it again. If the service ` +
    'writes its files so, set "last_line_ends": false in the source file';
  test.each([
    ['a field', 'a,b\nc,d', 'line 2, column 4', '"d"'],
    ['a delimiter', 'a,b\nc,', 'line 2, column 3', '""'],
    ['a closing quote', 'a,b\nc,"d"', 'line 2, column 6', '"d"'],
    ['half of the end of a line', 'a,b\r', 'line 1, column 5', '"b"'],
  ])('a last line that ends with %s is refused', (_name, content, place, text) => {
    expect(problemOf(() => read(content))).toBe(`${place}: ${ended(text)}`);
  });

  test.each([
    ['a field', 'a,b\nc,d', ['c', 'd']],
    ['a delimiter', 'a,b\nc,', ['c', '']],
    ['a closing quote', 'a,b\nc,"d"', ['c', 'd']],
    ['the end of a line', 'a,b\nc,d\n', ['c', 'd']],
  ])('where the last line need not end, it may end with %s', (_name, content, last) => {
    expect(texts(content, { lastLineEnds: false })).toEqual([['a', 'b'], last]);
  });
});

describe('rule 3: a field and a row have a largest size', () => {
  test('a field of 10,000 characters is read, and a longer one refused where it begins', () => {
    const longest = 'x'.repeat(10_000);
    expect(texts(`a,${longest}\n`)).toEqual([['a', longest]]);
    expect(problemOf(() => read(`a,${longest}x`))).toBe(
      'line 1, column 3: a field has at most 10000 characters',
    );
  });

  test('a row of 500 fields is read, and a longer one refused at the first field beyond', () => {
    const most = Array.from({ length: 500 }, () => 'x').join(',');
    expect(texts(`${most}\n`)[0]).toHaveLength(500);
    expect(problemOf(() => read(`${most},x\n`))).toBe(
      'line 1, column 1001: a line has at most 500 fields',
    );
  });
});

test('empty lines are no rows, and rows of empty fields are', () => {
  expect(texts('\na\n\r\n""\n,\n\n')).toEqual([['a'], ['', '']]);
});
