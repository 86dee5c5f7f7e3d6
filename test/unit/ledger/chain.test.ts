/**
 * What digests of blocks and seals cover, how transfers are compared, and how blocks continue each other. The
 * numbers are those of src/ledger/domain/chain.ts (C) and seals.ts (S).
 */
import { describe, expect, test } from 'vitest';
import {
  blockBytes,
  changedTransfers,
  formatHead,
  judgeHead,
  linkProblems,
  parseHead,
  type SealedBlock,
} from '../../../src/ledger/domain/chain.ts';
import type { Closing } from '../../../src/ledger/domain/closings.ts';
import { type SealContent, sealBytes } from '../../../src/ledger/domain/seals.ts';
import type { ClosedDaySums } from '../../../src/ledger/domain/statement.ts';

const BLOCK: SealedBlock = {
  number: 2,
  form: 1,
  previousDigest: '0a'.repeat(32),
  afterId: 20,
  throughId: 2 ** 40,
  transfers: 15,
  totalTransfers: 35,
  entriesDigest: 'ff'.repeat(32),
  history: 'sörver 1',
  chainedMicros: 1_000,
  publicKey: null,
  digest: 'b'.repeat(64),
  signature: null,
};

/** Reads fields as rule C4 describes them: a type, a length and a value. */
function fieldsOf(bytes: Uint8Array): readonly (bigint | string | null)[] {
  const fields: (bigint | string | null)[] = [];
  let rest = Buffer.from(bytes);
  while (rest.length > 0) {
    const [type, length] = [rest.readUInt8(0), rest.readUInt32BE(1)];
    const value = rest.subarray(5, 5 + length);
    if (value.length !== length) throw new Error('a field is cut');
    if (type === 0) fields.push(null);
    else if (type === 1) fields.push(value.readBigInt64BE());
    else if (type === 2) fields.push(value.toString('hex'));
    else if (type === 3) fields.push(value.toString('utf8'));
    else throw new Error(`no field has the type ${type}`);
    rest = rest.subarray(5 + length);
  }
  return fields;
}

describe('C2, C4: the digest of a block', () => {
  test('covers each of its fields, in one order and form', () => {
    expect(fieldsOf(blockBytes(BLOCK))).toEqual([
      'tallyhook chain block',
      1n,
      2n,
      '0a'.repeat(32),
      20n,
      2n ** 40n,
      15n,
      35n,
      'ff'.repeat(32),
      'sörver 1',
      1_000n,
      '',
    ]);
    expect(fieldsOf(blockBytes({ ...BLOCK, publicKey: '01ab' })).at(-1)).toBe('01ab');
  });
});

describe('the transfers of a block', () => {
  /** Entries as they are stored: each an id of 8 bytes, and a digest of 32. */
  function entries(...all: readonly (readonly [id: number | bigint, digest: string])[]): Buffer {
    return Buffer.concat(
      all.map(([id, digest]) => {
        const entry = Buffer.alloc(40);
        entry.writeBigInt64BE(BigInt(id));
        entry.write(digest.repeat(32), 8, 'hex');
        return entry;
      }),
    );
  }

  const CHAINED = entries([7, '01'], [8, '02'], [10, '03']);

  test('are unchanged if each id has its digest, wherever the bytes are in memory', () => {
    expect(changedTransfers(CHAINED, CHAINED)).toEqual([]);
    const shared = Buffer.concat([Buffer.alloc(3), CHAINED]).subarray(3);
    expect(changedTransfers(CHAINED, shared)).toEqual([]);
    expect(changedTransfers(entries(), entries())).toEqual([]);
  });

  test('are whole entries: the digest of the block covers what follows them', () => {
    expect(changedTransfers(CHAINED, Buffer.concat([CHAINED, Buffer.alloc(39)]))).toEqual([]);
  });

  test('are edited, removed or inserted, in the order of their ids as numbers', () => {
    const actual = entries([-5, '09'], [8, '12'], [9, '03'], [10, '03'], [2n ** 62n, '01']);
    expect(changedTransfers(CHAINED, actual)).toEqual([
      { id: '-5', what: 'inserted' },
      { id: '7', what: 'removed' },
      { id: '8', what: 'edited' },
      { id: '9', what: 'inserted' },
      { id: '4611686018427387904', what: 'inserted' },
    ]);
  });

  test('are compared by the whole digest', () => {
    const last = Buffer.from(CHAINED);
    last[last.length - 1] = 0xf3;
    expect(changedTransfers(CHAINED, last)).toEqual([{ id: '10', what: 'edited' }]);
    const first = Buffer.from(CHAINED);
    first[8] = 0x10;
    expect(changedTransfers(CHAINED, first)).toEqual([{ id: '7', what: 'edited' }]);
    const [one, other] = [entries([7, '00']), entries([7, '00'])];
    one.set([0x01, 0x23], 8);
    other.set([0x12, 0x03], 8);
    expect(changedTransfers(one, other)).toEqual([{ id: '7', what: 'edited' }]);
  });
});

describe('a chain head', () => {
  const digest = 'ab'.repeat(32);

  test('is read as it is printed, in upper case and with spaces around it, too', () => {
    const head = { number: 1234, digest };
    expect(parseHead(formatHead(head))).toEqual(head);
    expect(parseHead(` 1234:${digest.toUpperCase()}\n`)).toEqual(head);
    expect(parseHead(`${'9'.repeat(15)}:${digest}`)?.number).toBe(999_999_999_999_999);
  });

  test.each([
    `0:${digest}`,
    `01:${digest}`,
    `-1:${digest}`,
    `${'1'.repeat(17)}:${digest}`,
    `1:${digest}0`,
    `1:${digest.slice(1)}`,
    `1:${'g'.repeat(64)}`,
    `x1:${digest}`,
    digest,
    '',
  ])('is not read from %j', (text) => {
    expect(parseHead(text)).toBeUndefined();
  });

  test('that was replaced names the last restore that can explain it', () => {
    const published = { number: 5, digest, block: { ...BLOCK, number: 5, chainedMicros: 100 } };
    const start = (number: number, chainedMicros: number) => ({
      number,
      chainedMicros,
      history: `server ${number}`,
    });
    const verdict = (...starts: readonly ReturnType<typeof start>[]) =>
      judgeHead(published, BLOCK, starts);
    expect(verdict(start(3, 100), start(5, 200), start(6, 300))).toEqual({
      outcome: 'replaced_after_restore',
      since: start(5, 200),
    });
    expect(verdict(start(5, 100)).outcome).toBe('replaced_after_restore');
    expect(verdict(start(5, 99)).outcome).toBe('rewritten');
    expect(verdict(start(6, 200)).outcome).toBe('rewritten');
    // Without the block it is not known when the head was published.
    expect(judgeHead({ number: 5, digest }, BLOCK, [start(3, 0)]).outcome).toBe(
      'replaced_after_restore',
    );
  });
});

const DAY: ClosedDaySums = {
  day: '2026-10-05',
  currency: 'EUR',
  leg: 'captured',
  upMinor: 2n ** 70n,
  downMinor: 2n,
  ups: 3,
  downs: 4,
  late: 5,
  lateMinor: -6n,
  postedUpMinor: 7n,
  postedDownMinor: 8n,
};
const OTHER = { ...DAY, currency: 'USD' };
const BALANCE = { currency: 'EUR', leg: 'captured', upMinor: 9n, downMinor: 10n };
const CLOSING: Closing = {
  id: 11,
  month: '2026-10',
  timeZone: 'Europe/Berlin',
  fromMicros: 12,
  toMicros: 13,
  version: 14,
  previousId: 15,
  lastTransfer: 16,
  closedMicros: 17,
  closedBy: 'erika',
  reason: 'because',
  exceptions: [{ kind: 'uncertain', count: 1, examples: ['a', 'b'] }],
  reopenedMicros: null,
  reopenedBy: null,
  reopenedReason: null,
  seal: null,
};
const CONTENT: SealContent = {
  closing: CLOSING,
  days: [DAY, OTHER],
  balances: [BALANCE],
  block: { number: 18, digest: 'cd'.repeat(32) },
};

describe('S1, S2: a seal', () => {
  const dayFields = (currency: string) => [
    '2026-10-05',
    currency,
    'captured',
    String(2n ** 70n),
    '2',
    3n,
    4n,
    5n,
    '-6',
    '7',
    '8',
  ];

  test('covers all that a closing states, its sums and the block, in one order and form', () => {
    expect(fieldsOf(sealBytes(CONTENT))).toEqual([
      'tallyhook closing',
      11n,
      '2026-10',
      14n,
      'Europe/Berlin',
      12n,
      13n,
      15n,
      16n,
      17n,
      'erika',
      'because',
      // One exception, with two examples.
      1n,
      'uncertain',
      1n,
      2n,
      'a',
      'b',
      // Two days.
      2n,
      ...dayFields('EUR'),
      ...dayFields('USD'),
      // One balance.
      1n,
      'EUR',
      'captured',
      '9',
      '10',
      // The block.
      18n,
      'cd'.repeat(32),
    ]);
  });

  test('distinguishes no reason and no previous closing from empty ones', () => {
    const first = { ...CLOSING, reason: null, previousId: null };
    const fields = fieldsOf(sealBytes({ ...CONTENT, closing: first }));
    expect([fields[7], fields[11]]).toEqual([0n, null]);
    const empty = fieldsOf(sealBytes({ ...CONTENT, closing: { ...CLOSING, reason: '' } }));
    expect(empty[11]).toBe('');
  });

  test('does not depend on the order of the sums, and not on a later reopening', () => {
    const days = [DAY, OTHER, { ...DAY, leg: 'settled' }, { ...DAY, day: '2026-10-04' }];
    const balances = [BALANCE, { ...BALANCE, leg: 'held' }, { ...BALANCE, currency: 'USD' }];
    const sealed = sealBytes({ ...CONTENT, days, balances });
    const reversed = { days: days.toReversed(), balances: balances.toReversed() };
    const closing = { ...CLOSING, reopenedMicros: 1, reopenedBy: 'x', reopenedReason: 'y' };
    expect(sealBytes({ ...CONTENT, ...reversed, closing })).toEqual(sealed);
  });
});

describe('how blocks continue each other', () => {
  const digest = (digit: string) => digit.repeat(64);

  const FIRST: SealedBlock = {
    number: 1,
    form: 1,
    previousDigest: digest('0'),
    afterId: 0,
    throughId: 20,
    transfers: 15,
    totalTransfers: 15,
    entriesDigest: digest('e'),
    history: 'server 1',
    chainedMicros: 1_000,
    publicKey: null,
    digest: digest('a'),
    signature: null,
  };
  const SECOND: SealedBlock = {
    ...FIRST,
    number: 2,
    previousDigest: digest('a'),
    afterId: 20,
    throughId: 30,
    transfers: 5,
    totalTransfers: 20,
    chainedMicros: 2_000,
    digest: digest('b'),
  };

  test('a block that continues the one before it has no problem, and neither has the first', () => {
    expect([linkProblems(undefined, FIRST), linkProblems(FIRST, SECOND)]).toEqual([[], []]);
  });

  test.each([
    ['another digest (C2)', { previousDigest: digest('c') }],
    ['a gap of ids before it (C3)', { afterId: 21 }],
    ['ids that the one before it has (C3)', { afterId: 19 }],
    ['another number of transfers', { totalTransfers: 21 }],
  ])('a block with %s does not continue', (_, changed) => {
    const continues = /does not continue block 1/;
    expect(linkProblems(FIRST, { ...SECOND, ...changed })).toEqual([
      expect.stringMatching(continues),
    ]);
  });

  test('missing blocks are counted', () => {
    expect(linkProblems(undefined, SECOND)).toEqual(['block 1 is missing before it']);
    expect(linkProblems(FIRST, { ...SECOND, number: 4 })).toEqual([
      '2 blocks are missing before it',
    ]);
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
});
