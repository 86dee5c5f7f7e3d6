/** Bodies as parts that can be folded, and dead events by error. */
import { expect, test } from 'vitest';
import { groupByError } from '../../../src/pages/inbox/errorGroups.ts';
import { foldedJson, type JsonPart } from '../../../src/pages/inbox/foldedJson.ts';

function linesOf(part: JsonPart, depth = 0): readonly string[] {
  const indent = ' '.repeat(depth);
  return part.kind === 'text'
    ? [`${indent}${part.text}`]
    : [`${indent}${part.summary}`, ...part.parts.flatMap((inner) => linesOf(inner, depth + 1))];
}

test('no digit and no repeated key is lost', () => {
  const text = '{"a":9007199254740993,"a":1.10,"list":[1,{"b":"x, {y}: \\"z\\""},[]],"e":1e400}';
  expect(linesOf(foldedJson(text))).toEqual([
    '{ … }',
    ' "a": 9007199254740993',
    ' "a": 1.10',
    ' "list": [ … ]',
    '  1',
    '  { … }',
    '   "b": "x, {y}: \\"z\\""',
    '  [ … ]',
    ' "e": 1e400',
  ]);
});

test.each(['not json', '{"a":', '"text"', '12', `${'['.repeat(50)}${']'.repeat(50)}`])(
  '%s is shown as it is',
  (text) => {
    expect(foldedJson(text)).toEqual({ kind: 'text', place: 0, text });
  },
);

test('errors that differ in ids and numbers are one group', () => {
  const errors = ['payment pay_9 locked', 'payment pay_8 locked', null, 'payment pay_7 locked'];
  expect(groupByError(errors.map((error, place) => ({ id: 9 - place, error })))).toEqual([
    { error: 'payment pay_9 locked', count: 3, newest: 9 },
    { error: 'unknown', count: 1, newest: 7 },
  ]);
});
