/** Suggestions for ids that do not exist; the numbers are those of src/search/spellings.ts. */
import { expect, test } from 'vitest';
import { nearest, spellings } from '../../../src/search/spellings.ts';
import { type Random, seededRandom, testSeed } from '../../support/random.ts';

const ID = 'pay_Zk4mTq9wXc';

test.each([
  ['a letter is missing', 'pay_Zk4mTq9wX'],
  ['a letter is too many', 'pay_Zk4mmTq9wXc'],
  ['a letter is another', 'pay_Zk4nTq9wXc'],
  ['two letters are swapped', 'pay_Zk4Tmq9wXc'],
  ['the first letter is another', 'bay_Zk4mTq9wXc'],
])('1: an id is found by its spelling where %s', (_where, typed) => {
  expect(spellings(typed)).toContain(ID);
  expect(nearest(typed, [ID, 'pay_Ab3dEf6hIj'])).toBe(ID);
});

test('1: every single change of a random id is undone by one of its spellings', () => {
  const seed = testSeed();
  const random = seededRandom(seed);
  for (let round = 0; round < 200; round += 1) {
    const typed = changed(random);
    expect([typed, ...spellings(typed)], `TEST_SEED=${seed}, ${typed}`).toContain(ID);
  }
});

/** ID with a change at a random place. */
function changed(random: Random): string {
  const pick = (below: number) => Math.floor(random() * below);
  const place = pick(ID.length);
  const [before, after] = [ID.slice(0, place), ID.slice(place)];
  const letter = 'xQ7-'.charAt(pick(4));
  const all = [before + after.slice(1), before + letter + after, before + letter + after.slice(1)];
  return all[pick(all.length)] ?? '';
}

test('1: letters in the wrong case', () => {
  expect(spellings('ORD_1001')).toContain('ord_1001');
  expect(nearest('ORD_1001', ['ord_1001', 'ord_1002'])).toBe('ord_1001');
});

test('1: there are few spellings, and none of what nobody types', () => {
  expect(spellings(ID).length).toBeLessThan(2_500);
  expect(spellings('x'.repeat(65))).toEqual([]);
});

test('2: a cut copy', () => {
  expect(nearest('pay_Zk4mT', [ID, 'pay_Zk9'])).toBe(ID);
  // Too short to mean one.
  expect(nearest('pay_Z', [ID])).toBeUndefined();
});

test('3: in a sequence of numbers, nothing is suggested', () => {
  expect(nearest('ord_1009', ['ord_1001', 'ord_1002', 'ord_1008'])).toBeUndefined();
  expect(nearest('ord_10001', ['ord_1001', 'ord_2002'])).toBe('ord_1001');
});

test('3: what differs in more than two places is another id', () => {
  expect(nearest('pay_abcdef', ['pay_uvwxyz'])).toBeUndefined();
});
