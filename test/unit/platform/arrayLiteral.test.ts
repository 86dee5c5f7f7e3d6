import { describe, expect, test } from 'vitest';
import { arrayLiteral } from '../../../src/platform/db/arrayLiteral.ts';

describe('an array literal', () => {
  test.each<[string, readonly unknown[], string]>([
    ['no elements', [], '{}'],
    ['text', ['pay_1', 'pay_2'], '{"pay_1","pay_2"}'],
    ['empty text', ['', ''], '{"",""}'],
    ['missing values', [null, undefined], '{NULL,NULL}'],
    ['the word NULL', ['NULL', 'null'], '{"NULL","null"}'],
    ['separators, braces and spaces', [',', '{}', ' a '], '{",","{}"," a "}'],
    ['quotes', ['a "word"'], String.raw`{"a \"word\""}`],
    ['backslashes', [String.raw`C:\n`, '\\'], String.raw`{"C:\\n","\\"}`],
    ['control characters beside quotes', ['"\n\t"'], '{"\\"\n\t\\""}'],
    ['characters outside the basic plane beside quotes', ['"\u{1F600}"'], '{"\\"\u{1F600}\\""}'],
    ['numbers', [0, -1, 1.5, 9007199254740991], '{0,-1,1.5,9007199254740991}'],
    ['big integers', [9223372036854775807n], '{9223372036854775807}'],
    ['booleans', [true, false], '{true,false}'],
    ['dates', [new Date('2026-11-22T10:00:00.123Z')], '{"2026-11-22T10:00:00.123Z"}'],
    ['bytes', [Buffer.from('00ff', 'hex')], String.raw`{"\\x00ff"}`],
    ['arrays', [['a'], ['b']], '{{"a"},{"b"}}'],
    ['objects', [{ a: 'b' }], String.raw`{"{\"a\":\"b\"}"}`],
  ])('of %s', (_, values, literal) => {
    expect(arrayLiteral(values)).toBe(literal);
  });

  test.each([() => 1, Symbol('a')])('is an error for values that SQL does not have', (value) => {
    expect(() => arrayLiteral([value])).toThrow(TypeError);
  });
});
