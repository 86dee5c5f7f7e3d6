/** What people read about a published chain head. */
import { expect, test } from 'vitest';
import { headSentence } from '../../../src/representation/chain.ts';

const given = { number: 4, digest: 'ab'.repeat(32) };

test('a head that another block replaced names a restore into the same server before it names an intruder', () => {
  const sentence = headSentence({ given, outcome: 'rewritten' }, undefined);
  expect(sentence).toMatch(/A dump that was restored into this server .* publish the new head/);
  expect(sentence).toMatch(/Otherwise .* find out who had access\.$/);
});

test('a head of which only number and digest are known reads like one from a file', () => {
  expect(headSentence({ given, outcome: 'confirmed' }, undefined)).toBe(
    'The chain has the published block 4, so every transfer up to it is as it was then.',
  );
  expect(headSentence({ given, outcome: 'ahead' }, undefined)).toContain(
    'before the published block 4, so this database is older than the head.',
  );
});
