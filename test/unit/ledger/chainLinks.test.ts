/** How blocks of the chain continue each other. The numbers are those of src/ledger/domain/chain.ts. */
import { expect, test } from 'vitest';
import { judgeHead, linkProblems, type SealedBlock } from '../../../src/ledger/domain/chain.ts';

const digest = (digit: string) => digit.repeat(64);

const FIRST: SealedBlock = {
  ...{ number: 1, form: 1, previousDigest: digest('0'), afterId: 0, throughId: 20 },
  ...{ transfers: 15, totalTransfers: 15, entriesDigest: digest('e'), history: 'server 1' },
  ...{ chainedMicros: 1_000, publicKey: null, digest: digest('a'), signature: null },
};
const SECOND: SealedBlock = {
  ...FIRST,
  ...{ number: 2, previousDigest: digest('a'), afterId: 20, throughId: 30 },
  ...{ transfers: 5, totalTransfers: 20, chainedMicros: 2_000, digest: digest('b') },
};

test('a block that continues the one before it has no problem, and neither has the first', () => {
  expect([linkProblems(undefined, FIRST), linkProblems(FIRST, SECOND)]).toEqual([[], []]);
});

test.each([
  ['another digest (2)', { previousDigest: digest('c') }],
  ['a gap of ids before it (3)', { afterId: 21 }],
  ['ids that the one before it has (3)', { afterId: 19 }],
  ['another number of transfers', { totalTransfers: 21 }],
])('a block with %s does not continue', (_, changed) => {
  const continues = /does not continue block 1/;
  expect(linkProblems(FIRST, { ...SECOND, ...changed })).toEqual([
    expect.stringMatching(continues),
  ]);
});

test('missing blocks are counted', () => {
  expect(linkProblems(undefined, SECOND)).toEqual(['block 1 is missing before it']);
  expect(linkProblems(FIRST, { ...SECOND, number: 4 })).toEqual(['2 blocks are missing before it']);
});

test('another block in the place of a published one is excused only by a later restore', () => {
  const published = { number: 2, digest: digest('f'), block: { ...SECOND, digest: digest('f') } };
  const restored = (chainedMicros: number) => [{ number: 2, history: 'server 2', chainedMicros }];
  expect(judgeHead({ ...published, digest: digest('b') }, SECOND, []).outcome).toBe('confirmed');
  expect(judgeHead(published, undefined, []).outcome).toBe('ahead');
  expect(judgeHead(published, SECOND, restored(2_500)).outcome).toBe('replaced_after_restore');
  expect(judgeHead(published, SECOND, restored(1_500)).outcome).toBe('rewritten');
  expect(judgeHead(published, SECOND, []).outcome).toBe('rewritten');
});
