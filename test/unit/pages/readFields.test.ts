/** What a form has sent. */
import { expect, test } from 'vitest';
import { readFields } from '../../../src/pages/serving/forms.ts';

test('a text has the line breaks that it was given with, which browsers send as two characters', () => {
  const sent = new URLSearchParams([
    ['text', 'one\r\ntwo\r\n\r\nthree'],
    ['several', 'a\r\nb'],
    ['several', 'c'],
    ['empty', ''],
  ]);
  expect(readFields(sent)).toEqual({ text: 'one\ntwo\n\nthree', several: ['a\nb', 'c'] });
});
