/** Finding and replacing many values in texts. */
import { describe, expect, test } from 'vitest';
import {
  createMatcher,
  eraseInJson,
  eraseValues,
  formsOf,
} from '../../../src/erasure/domain/matcher.ts';
import { seededRandom, testSeed } from '../../support/random.ts';

const find = (values: readonly string[], text: string) =>
  createMatcher(values.map((value) => ({ value, owner: value })))
    .find(text)
    .map(({ value }) => value)
    .toSorted();

describe('a value is found', () => {
  test.each([
    ['as it is', 'Ann Lee', 'Ann Lee called'],
    ['in another case', 'Ann@Example.org', 'mail ANN@example.ORG.'],
    ['escaped as in JSON', 'Ann "Nan" Lee', JSON.stringify({ name: 'Ann "Nan" Lee' })],
    ['as JSON of ASCII alone', 'Zoë Müller', '{"name":"Zo\\u00EB M\\u00fcller"}'],
    ['escaped as in a URL', 'ann+1@example.org', 'https://shop/?mail=ann%2B1%40example.org&x=1'],
    ['behind an escape of JSON', 'Ann Lee', '{"note":"Refund\\nAnn Lee"}'],
    ['behind an escape of a URL', 'Ann', 'to=%20Ann'],
    ['decomposed', 'Zoë Müller', 'Zoë Müller'.normalize('NFD')],
    ['at the very end', '5550100', 'call 5550100'],
    ['with spaces around it', ' Ann Lee ', 'for Ann Lee!'],
    ['escaped as in JSON, with letters beyond ASCII', 'Zoë "Z" Lee', 'name: Zoë \\"Z\\" Lee, too'],
    ['as JSON of ASCII alone, in a sentence', 'Zoë Lee', 'name: Zo\\u00eb Lee, too'],
    ['escaped as in a form', 'Ann Lee', 'name=Ann+Lee&x=1'],
    ['behind an escape at the very beginning', 'Ann Lee', '\\nAnn Lee'],
    ['behind a letter, if it begins with none', '+1 555 0100', 'tel+1 555 0100'],
    ['before a letter, if it ends with none', 'Ann (Nan)', 'Ann (Nan)s'],
  ])('%s', (_how, value, text) => {
    expect(find([value], text)).toEqual([value]);
    const left = eraseValues(text, [value]);
    expect(left).toContain('[erased]');
    expect(find([value], left)).toEqual([]);
  });

  // Ids, double names and numbers of phones have hyphens; a path has slashes.
  test('and erased with any character of ASCII in it', () => {
    for (let code = 32; code < 127; code += 1) {
      const value = `ann${String.fromCharCode(code)}lee`;
      expect.soft(eraseValues(`for ${value}, too`, [value]), value).toBe('for [erased], too');
    }
  });

  test('as a word only', () => {
    expect(
      find(['Ann Lee', '5550100', 'ann@example.org'], 'Joann Lees 15550100 joann@example.org'),
    ).toEqual([]);
    expect(eraseValues('Joann Lees 15550100', ['Ann Lee', '5550100'])).toBe('Joann Lees 15550100');
    for (const letter of 'azAZ09éÉ') {
      for (const text of [`${letter}Ann Lee`, `Ann Lee${letter}`]) {
        expect(find(['Ann Lee'], text), text).toEqual([]);
        expect(eraseValues(text, ['Ann Lee'])).toBe(text);
      }
    }
    for (const mark of '`{/:@ €') {
      expect(find(['Ann Lee'], `${mark}Ann Lee${mark}`), mark).toEqual(['Ann Lee']);
    }
  });

  test('also in a text of any characters', () => {
    const random = seededRandom(1);
    const unit = () => String.fromCharCode(0x100 + Math.floor(random() * 0x4000));
    const words = Array.from({ length: 2_000 }, () => unit() + unit() + unit());
    const text = Array.from({ length: 50_000 }, unit).join('');
    expect(find(['Ann Lee', ...words], `${text} Ann Lee`)).toContain('Ann Lee');
  });

  test('and erased as a whole, also if another one is a part of it', () => {
    for (const values of [
      ['Ann', 'Ann Lee'],
      ['Ann Lee', 'Ann'],
    ]) {
      expect(eraseValues('for Ann Lee', values)).toBe('for [erased]');
    }
  });
});

test('texts of a JSON document lose values, and everything else of it stays', () => {
  const before = {
    amount: 5550100,
    'Ann Lee': true,
    names: ['Ann Lee', null],
    note: 'for Ann Lee!',
  };
  expect(eraseInJson(before, ['Ann Lee', '5550100'])).toEqual({
    amount: 5550100,
    'Ann Lee': true,
    names: ['[erased]', null],
    note: 'for [erased]!',
  });
});

const seed = testSeed();
test(`finds what a plain search finds, among thousands of values (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const letter = () => 'abcé "\\@'.charAt(Math.floor(random() * 8));
  const word = (length: number) => Array.from({ length }, letter).join('');
  const values = Array.from({ length: 2_000 }, () => word(3 + Math.floor(random() * 6)));
  const text = word(3_000).toLowerCase();
  const isWord = (unit: string) => /[\p{L}\p{N}]/u.test(unit);
  const plain = values.filter((value) =>
    formsOf(value).some((form) => {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1)) {
        const [before, after] = [text.charAt(at - 1), text.charAt(at + form.length)];
        const isEscaped = /\\[bfnrt]$/.test(text.slice(Math.max(0, at - 2), at));
        const isInside = isWord(form.charAt(0)) && isWord(before) && !isEscaped;
        if (!isInside && !(isWord(form.slice(-1)) && isWord(after))) return true;
      }
      return false;
    }),
  );
  expect(plain.length).toBeGreaterThan(50);
  expect(find(values, text)).toEqual([...plain].toSorted());
});
