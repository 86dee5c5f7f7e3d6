import { expect, test } from 'vitest';
import { judgeSession, type SessionFacts } from '../../../src/doctor/domain/judgeSession.ts';

const DEFAULTS: SessionFacts = {
  user: 'tallyhook',
  database: 'my "shop"',
  isolation: 'read committed',
  statementMs: 0,
  transactionMs: 0,
};

test.each<[string, Partial<SessionFacts>, string, RegExp, string | null]>([
  ['the defaults', {}, 'ok', /cancels or rejects/, null],
  [
    'another isolation level',
    { isolation: 'serializable' },
    'failed',
    /default_transaction_isolation is serializable.*503/,
    `Run: alter role "tallyhook" in database "my ""shop""" set default_transaction_isolation = 'read committed'`,
  ],
  [
    'a second for a statement',
    { statementMs: 1_000 },
    'warning',
    /statement_timeout is 1 s/,
    'Run: alter role "tallyhook" in database "my ""shop""" set statement_timeout = 0',
  ],
  [
    'a minute for a transaction',
    { transactionMs: 60_000 },
    'warning',
    /transaction_timeout is 60 s/,
    'Run: alter role "tallyhook" in database "my ""shop""" set transaction_timeout = 0',
  ],
  ['limits beyond those of Tallyhook', { statementMs: 600_000 }, 'ok', /cancels/, null],
])('%s', (_, changes, state, result, remedy) => {
  const judgment = judgeSession({ ...DEFAULTS, ...changes });
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy).toBe(remedy);
});
