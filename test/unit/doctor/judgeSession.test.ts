import { expect, test } from 'vitest';
import { judgeSession, type SessionFacts } from '../../../src/doctor/domain/judgeSession.ts';

const DEFAULTS: SessionFacts = {
  user: 'tallyhook',
  database: 'my "shop"',
  isolation: 'read committed',
  statementMs: 0,
  transactionMs: 0,
};

const run = (setting: string) =>
  `Run: alter role "tallyhook" in database "my ""shop""" set ${setting}`;

test.each<{ changes: Partial<SessionFacts>; state: string; result: RegExp; remedy: string | null }>(
  [
    { changes: {}, state: 'ok', result: /cancels or rejects/, remedy: null },
    {
      changes: { isolation: 'serializable' },
      state: 'failed',
      result: /default_transaction_isolation is serializable.*503/,
      remedy: run(`default_transaction_isolation = 'read committed'`),
    },
    {
      changes: { statementMs: 1_000 },
      state: 'warning',
      result: /statement_timeout is 1 s/,
      remedy: run('statement_timeout = 0'),
    },
    {
      changes: { transactionMs: 60_000 },
      state: 'warning',
      result: /transaction_timeout is 60 s/,
      remedy: run('transaction_timeout = 0'),
    },
    { changes: { statementMs: 600_000 }, state: 'ok', result: /cancels/, remedy: null },
  ],
)('settings of a session: $changes', ({ changes, state, result, remedy }) => {
  const judgment = judgeSession({ ...DEFAULTS, ...changes });
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy).toBe(remedy);
});
