import { describe, expect, test } from 'vitest';
import { diffLines } from '../../../src/ledger/domain/lineDiff.ts';
import { jsonLines } from '../../../src/representation/jsonLines.ts';
import { seededRandom, testSeed } from '../../support/random.ts';

const seed = testSeed();

describe('the lines of a body', () => {
  test('have every character of its values as received', () => {
    const text = '{"a":12345678901234567890,"b":[1.0,{"c":"x,\\"{ y"}],"a":null,"e":{}}';
    expect(jsonLines(text)).toEqual([
      '{',
      '  "a": 12345678901234567890,',
      '  "b": [',
      '    1.0,',
      '    {',
      '      "c": "x,\\"{ y"',
      '    }',
      '  ],',
      '  "a": null,',
      '  "e": {',
      '  }',
      '}',
    ]);
  });

  test.each(['', 'no json, {"at all', '{"cut": "in the mid', '}}]]', '{{{[[', '"'])(
    'of %j lose nothing but white space',
    (text) => {
      const bare = (one: string) => one.replaceAll(/\s/g, '');
      expect(bare(jsonLines(text).join(''))).toBe(bare(text));
    },
  );
});

describe(`the difference of two texts (seed ${seed})`, () => {
  test('has every line of both in order, and equal lines beside each other', () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 300; round += 1) {
      const some = () =>
        Array.from(
          { length: Math.floor(random() * 12) },
          () => 'abcd'[Math.floor(random() * 4)] ?? '',
        );
      const [left, right] = [some(), some()];
      const rows = diffLines(left, right);
      expect(rows.flatMap((row) => row.left ?? [])).toEqual(left);
      expect(rows.flatMap((row) => row.right ?? [])).toEqual(right);
      for (const row of rows) {
        if (row.left !== undefined && row.right !== undefined) expect(row.left).toBe(row.right);
      }
    }
  });

  test('marks only what differs', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c'])).toEqual([
      { left: 'a', right: 'a' },
      { left: 'b', right: undefined },
      { left: undefined, right: 'x' },
      { left: 'c', right: 'c' },
    ]);
    expect(diffLines(['a', 'b'], ['a', 'b']).every(({ left, right }) => left === right)).toBe(true);
  });

  test('of long texts ends soon', () => {
    const lines = (name: string) => Array.from({ length: 20_000 }, (_, n) => `${name}${n}`);
    expect(diffLines(lines('a'), lines('b'))).toHaveLength(40_000);
  });
});
