/** What doctor reports, and what to do about it: rule 2 of src/doctor/domain/judge.ts. */
import { describe, expect, test } from 'vitest';
import {
  CHECK_STATES,
  failed,
  type Judgment,
  judgeAccount,
  judgeArchive,
  judgeBodyCopy,
  judgeBodyDays,
  judgeChain,
  judgeClock,
  judgeDatabaseClock,
  judgeIdsLeft,
  judgeKey,
  judgeKeyKind,
  judgeOpenAttempts,
  judgePause,
  judgePending,
  judgeProof,
  judgeQueue,
  judgeTokens,
  judgeWatermarks,
  notChecked,
  type OpenAttempt,
  ok,
  type PendingFacts,
  warning,
} from '../../../src/doctor/domain/judge.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../src/platform/time.ts';

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const AT = new Date(NOW_MS);
const NOON = '2026-11-21T12:00:00.000Z';

type Row = readonly [name: string, judge: () => Judgment, expected: Judgment];

const response = (httpStatus: number) => ({ httpStatus, code: undefined, message: 'down' });
const NTP = 'Synchronize the clock by NTP, for example with `timedatectl set-ntp true`.';
const BOTH_NTP =
  "Synchronize both clocks by NTP, for example with `timedatectl set-ntp true`. Stored times follow the database's clock; logs, certificates and timers follow the clock of this machine.";

const SERVICE: readonly Row[] = [
  ['a key', () => judgeKey('healthy', 'x'), ok('the service accepts the key')],
  [
    'an unknown key',
    () => judgeKey(response(401), 'x'),
    failed(
      'the service does not know the key',
      'Compare PAYMENTS_API_KEY with the key at the service: complete and without quotes. A sandbox key works at the sandbox address only.',
    ),
  ],
  [
    'a rate limit that is used up',
    () => judgeKey(response(429), 'x'),
    failed(
      'the rate limit of the service is used up',
      'Look for a program that polls in a loop with the same key, or request a higher limit from the service. Run this again in a minute: the key was not checked.',
    ),
  ],
  [
    'a production key',
    () => judgeKeyKind('prd_0123456789abcdef', 'https://api.shop.example'),
    ok('a production key, and api.shop.example'),
  ],
  [
    'a production key at an address that begins with the one of this machine',
    () => judgeKeyKind('prd_0123456789abcdef', 'https://localhost.shop.example'),
    ok('a production key, and localhost.shop.example'),
  ],
  [
    'a production key at an address that ends with the one of this machine',
    () => judgeKeyKind('prd_0123456789abcdef', 'https://api-localhost'),
    ok('a production key, and api-localhost'),
  ],
  [
    'a sandbox key',
    () => judgeKeyKind('snd_0123456789abcdef', 'http://127.0.0.1:8082'),
    ok('a sandbox key, and 127.0.0.1'),
  ],
  [
    'a key that is not secret',
    () => judgeKeyKind('pk_snd_0123456789', 'https://api.shop.example'),
    failed(
      'the key is not a secret key of the service',
      'Set PAYMENTS_API_KEY to a secret key; they begin with snd_ or prd_.',
    ),
  ],
  [
    'a clock that agrees',
    () => judgeClock(5 * SECOND_MS, false),
    ok("this machine's clock agrees with the service's"),
  ],
  [
    'a sandbox that is five seconds ahead',
    () => judgeClock(-5 * SECOND_MS, true),
    ok("this machine's clock agrees with the service's"),
  ],
  [
    'a clock that is a minute behind',
    () => judgeClock(-MINUTE_MS, false),
    warning("this machine's clock is 60 s behind the service's", NTP),
  ],
  [
    'a clock that is further ahead',
    () => judgeClock(MINUTE_MS + 1, false),
    failed("this machine's clock is 60 s ahead of the service's", NTP),
  ],
];

const DATABASE: readonly Row[] = [
  [
    'a clock that agrees',
    () => judgeDatabaseClock(2 * SECOND_MS),
    ok("this machine's clock agrees with the database's"),
  ],
  [
    'a clock that is a minute ahead',
    () => judgeDatabaseClock(MINUTE_MS),
    warning("this machine's clock is 60 s ahead of the database's", BOTH_NTP),
  ],
  [
    'a clock that is further behind',
    () => judgeDatabaseClock(-MINUTE_MS - 1),
    failed("this machine's clock is 60 s behind the database's", BOTH_NTP),
  ],
  ['many transaction ids', () => judgeIdsLeft(500_000_000), ok('500 million are left')],
  [
    'few transaction ids',
    () => judgeIdsLeft(100_000_000),
    warning(
      '100 million are left; from 3 million on, PostgreSQL refuses to write, and deliveries get 503',
      'Remove what keeps vacuum from freezing rows: prepared transactions (pg_prepared_xacts), replication slots that nobody reads (pg_replication_slots), transactions that stay open (pg_stat_activity). Then run VACUUM in the database of which age(datfrozenxid) or mxid_age(datminmxid) in pg_database is the largest.',
    ),
  ],
  [
    'an empty ledger',
    () => judgeAccount(undefined, 'mer_1'),
    ok('the ledger is empty; it will belong to mer_1'),
  ],
  [
    'the ledger of the account',
    () => judgeAccount('mer_1', 'mer_1'),
    ok('the ledger belongs to mer_1'),
  ],
  [
    'the ledger of another account',
    () => judgeAccount('mer_2', 'mer_1'),
    failed(
      'the ledger belongs to mer_2, but PAYMENTS_MERCHANT_ID is mer_1',
      'Set PAYMENTS_MERCHANT_ID to the account of the ledger, or use another database.',
    ),
  ],
];

const attempt = (id: number, action: string, subjectId: string): OpenAttempt => ({
  id,
  action,
  subjectId,
  actorName: 'ada',
  recordedAt: AT,
});
const capture = attempt(7, 'authorization.capture', 'pay_1');
const evidence = attempt(8, 'dispute.evidence', 'dp_1');
const upload = attempt(9, 'dispute.upload', 'dp_1');
const COMPARE =
  'Run npx tallyhook refresh with the id of each payment, payout or accepted dispute, and compare.';
const OF_EVIDENCE =
  'For evidence, run npx tallyhook disputes evidence with the id of the dispute, and compare. A file that it does not list is not evidence.';
const RECORD =
  'Then record what became of each attempt: npx tallyhook audit close NUMBER --outcome done|failed --reason TEXT.';
const REPEAT = 'Then submit or upload again what is missing, before the deadline of the dispute.';
const A_WEEK = 'This warning ends after a week.';
const ENDED = 'the process ended before the service responded';

const PEOPLE: readonly Row[] = [
  ['no pause', () => judgePause(undefined), ok('not paused')],
  [
    'a pause',
    () => judgePause({ pausedAt: AT, pausedBy: 'ada', reason: 'maintenance' }),
    warning(
      `ada paused it at ${NOON}: maintenance`,
      'When the reason is gone, run: npx tallyhook resume',
    ),
  ],
  [
    'no attempt without a result',
    () => judgeOpenAttempts([]),
    ok('every movement of money and every submission of evidence by a person has a result'),
  ],
  [
    'a movement of money without a result',
    () => judgeOpenAttempts([capture]),
    warning(
      `${ENDED}: authorization.capture of pay_1 by ada at ${NOON} (attempt 7)`,
      [COMPARE, RECORD, A_WEEK].join(' '),
    ),
  ],
  [
    'evidence without a result',
    () => judgeOpenAttempts([evidence, upload]),
    warning(
      `${ENDED}: dispute.evidence of dp_1 by ada at ${NOON} (attempt 8); dispute.upload of dp_1 by ada at ${NOON} (attempt 9)`,
      [OF_EVIDENCE, RECORD, REPEAT, A_WEEK].join(' '),
    ),
  ],
  [
    'both without a result',
    () => judgeOpenAttempts([capture, upload]),
    warning(
      expect.stringContaining('(attempt 7); dispute.upload'),
      [COMPARE, OF_EVIDENCE, RECORD, REPEAT, A_WEEK].join(' '),
    ),
  ],
  ['no token that expires', () => judgeTokens([]), ok('no token expires within 14 days')],
  [
    'tokens that expire',
    () =>
      judgeTokens([
        { name: 'shop', role: 'shop', expiresAt: AT },
        { name: 'ops', role: 'operator', expiresAt: AT },
      ]),
    warning(
      `tokens expire, and requests with them are refused then: shop (shop) at ${NOON}; ops (operator) at ${NOON}`,
      'Create another token for each holder with npx tallyhook tokens create, and revoke the old one. Revoke those that nobody needs.',
    ),
  ],
];

const watermark = (stream: string, aheadMs: number) => ({ stream, at: new Date(NOW_MS + aheadMs) });
const DAYS_STEP =
  'Check that a process with the role scheduler runs, the database rights above, and the log for body_days.';
const COPY = { isCopying: true, copiedThrough: 10, lastEventId: 50 };
const COPIED = 'bodies of an older version are copied up to event 10 of 50';
const PROOF = {
  lastRunMs: NOW_MS - 2 * DAY_MS,
  fullFromMs: NOW_MS - 31 * DAY_MS,
  fullAtMs: NOW_MS - DAY_MS,
  failures: 0,
};
const proof = (changes: Partial<Parameters<typeof judgeProof>[0]>) =>
  judgeProof({ ...PROOF, ...changes }, NOW_MS, 30);

const NONE_PENDING: PendingFacts = {
  events: 0,
  oldestAgeSeconds: 0,
  untriedAgeMs: undefined,
  applier: 'ready',
};
/** One event that was not tried yet. */
function waiting(facts: Partial<PendingFacts>): PendingFacts {
  const { oldestAgeSeconds = 5 } = facts;
  const one = { events: 1, oldestAgeSeconds, untriedAgeMs: oldestAgeSeconds * 1_000 };
  return { ...NONE_PENDING, ...one, ...facts };
}

const RUNNING: readonly Row[] = [
  [
    'watermarks that are past',
    () => judgeWatermarks([watermark('payments', 0)], NOW_MS),
    ok('no watermark is in the future'),
  ],
  [
    'watermarks in the future',
    () =>
      judgeWatermarks(
        [watermark('payments', 1), watermark('payouts', 0), watermark('refunds', 2)],
        NOW_MS,
      ),
    failed(
      'watermarks are in the future, so new rows are not compared: payments up to 2026-11-21T12:00:00.001Z, refunds up to 2026-11-21T12:00:00.002Z',
      'Run: npx tallyhook reconcile. It resets the watermarks and compares what was skipped; the schedule does the same every five minutes.',
    ),
  ],
  ['a queue that works', () => judgeQueue(undefined), ok('a job was added, claimed and finished')],
  [
    'a queue that refuses work',
    () => judgeQueue({ reason: 'Redis evicts jobs', remedy: 'Set noeviction.' }),
    failed(
      'Redis evicts jobs',
      'Set noeviction. No event is lost: events wait in the database until the queue works.',
    ),
  ],
  [
    'no event that waits',
    () => judgePending(NONE_PENDING, 5_000),
    ok('no event waits to be applied'),
  ],
  [
    'an event that waits',
    () => judgePending(waiting({ untriedAgeMs: 5_000 }), 5_000),
    ok('the oldest waits for 5 s'),
  ],
  [
    'an event that waits too long',
    () => judgePending(waiting({ untriedAgeMs: 5_001 }), 5_000),
    failed(
      'events are not applied: the oldest waits for 5 s',
      'Check that a process with the role events runs, and the queue check below.',
    ),
  ],
  [
    'an event that waits for a restart',
    () => judgePending(waiting({ applier: 'none', oldestAgeSeconds: 30 }), 60_000),
    ok('the oldest waits for 30 s'),
  ],
  [
    'an event that nothing applies',
    () => judgePending(waiting({ applier: 'none', oldestAgeSeconds: 31 }), 60_000),
    failed(
      '1 event waits to be applied, the oldest for 31 s, and no process has the role events',
      'Run: npx tallyhook start --roles events',
    ),
  ],
  [
    'events that failed before what applied them was stopped',
    () =>
      judgePending({ ...NONE_PENDING, applier: 'none', events: 2, oldestAgeSeconds: 40 }, 60_000),
    failed(
      '2 events wait to be applied, the oldest for 40 s, and no process has the role events',
      'Run: npx tallyhook start --roles events',
    ),
  ],
  [
    'events beside a process that is not ready',
    () => judgePending(waiting({ applier: 'not_ready', oldestAgeSeconds: 31 }), 60_000),
    failed(
      '1 event waits to be applied, the oldest for 31 s, and no process with the role events is ready',
      'Run: npx tallyhook processes. It has the reason.',
    ),
  ],
];

const STORED: readonly Row[] = [
  [
    'an archive',
    () => judgeArchive('the folder /archive', undefined),
    ok('the folder /archive can be reached'),
  ],
  [
    'an archive that cannot be reached',
    () => judgeArchive('the folder /archive', new Error('EACCES')),
    failed(
      'the folder /archive cannot be used (EACCES)',
      'Check ARCHIVE_URL, its credentials, that its file system is mounted, and who may write there. Until then retention removes nothing.',
    ),
  ],
  ['partitions', () => judgeBodyDays(3), ok('partitions exist for 3 days after today')],
  [
    'few partitions',
    () => judgeBodyDays(2),
    failed('partitions exist for 2 days after today', DAYS_STEP),
  ],
  [
    'a partition of today',
    () => judgeBodyDays(0),
    failed('partitions exist for 0 days after today', DAYS_STEP),
  ],
  [
    'none of today',
    () => judgeBodyDays(-1),
    failed('today has no partition: events may be refused', DAYS_STEP),
  ],
  [
    'no bodies to copy',
    () => judgeBodyCopy({ ...COPY, isCopying: false, steppedAgoMs: null }),
    ok('no body of an older version is left to copy'),
  ],
  ['a copy', () => judgeBodyCopy({ ...COPY, steppedAgoMs: 10 * MINUTE_MS }), ok(COPIED)],
  [
    'a copy that does not continue',
    () => judgeBodyCopy({ ...COPY, steppedAgoMs: null }),
    warning(
      `${COPIED}, and the copy does not continue`,
      'Check that a process with the role scheduler runs, and its log for the schedule bodies. Until they are copied, these bodies are readable, but retention removes none of them.',
    ),
  ],
  [
    'no proof',
    () => proof({ lastRunMs: null }),
    ok('not proven yet; the scheduler begins at 01:00 UTC'),
  ],
  [
    'rows that fail',
    () => proof({ failures: 2 }),
    failed(
      '2 resources, orders or events fail a check',
      'Run: npx tallyhook verify. It names each of them.',
    ),
  ],
  [
    'an old proof',
    () => proof({ lastRunMs: NOW_MS - 2 * DAY_MS - 1 }),
    warning(
      'the ledger was last proven on 2026-11-19',
      'Check that a process with the role scheduler runs, or run: npx tallyhook verify',
    ),
  ],
  [
    'a first proof of everything',
    () => proof({ fullFromMs: null }),
    ok('the first proof of everything continues'),
  ],
  [
    'one that has no end yet',
    () => proof({ fullAtMs: null }),
    ok('the first proof of everything continues'),
  ],
  [
    'an old proof of everything',
    () => proof({ fullAtMs: NOW_MS - 33 * DAY_MS }),
    warning(
      'everything was last proven from 2026-10-21 to 2026-10-19',
      'Run npx tallyhook verify --full in a quiet hour, or raise VERIFY_FULL_DAYS (30): the nights are too short for a larger share.',
    ),
  ],
  [
    'a chain without a signature',
    () => judgeChain({ number: 7, publicKey: null }, undefined),
    warning(
      'block 7 is not signed: whoever can change the database can make the chain again',
      'Set CHAIN_KEY where the scheduler runs, for example to the output of: openssl rand -hex 32',
    ),
  ],
  [
    'a chain with another signature',
    () => judgeChain({ number: 7, publicKey: 'cd' }, 'ab'),
    warning(
      'block 7 is signed with the key cd, and CHAIN_KEY of this machine has another one',
      'Set the same CHAIN_KEY everywhere. If it is the same, run: npx tallyhook verify --chain',
    ),
  ],
];

describe.each([
  ['the service', SERVICE],
  ['the database', DATABASE],
  ['what people do', PEOPLE],
  ['what runs', RUNNING],
  ['what is stored', STORED],
])('doctor reports of %s', (_about, rows) => {
  test.each(rows)('%s', (_name, judge, expected) => {
    expect(judge()).toEqual(expected);
  });
});

test('twenty attempts are named, and that there are more', () => {
  const attempts = Array.from({ length: 21 }, (_, place) => attempt(place, 'payment.refund', 'p'));
  const { result } = judgeOpenAttempts(attempts);
  expect(result).toMatch(/\(attempt 19\); and more, which npx tallyhook audit list --open lists$/);
  expect(judgeOpenAttempts(attempts.slice(1)).result).toMatch(/\(attempt 20\)$/);
});

test('each state of a check has a name, and only what is not well has a remedy', () => {
  const judgments = [ok('x'), warning('x', 'y'), failed('x', 'y'), notChecked('x', 'y')];
  expect(judgments.map(({ state }) => state)).toEqual(CHECK_STATES);
  expect(judgments.map(({ remedy }) => remedy)).toEqual([null, 'y', 'y', 'y']);
});
