/**
 * Judges settings that an administrator made for the user, the database or the server, and that each session has.
 * Tallyhook overrides them where a transaction of several statements depends on them, and cannot for a statement of its
 * own: behind a pooler, no setting of a session is its own (record 101).
 */
import { MINUTE_MS, SECOND_MS } from '../../platform/time.ts';
import { failed, type Judgment, ok, warning } from './judge.ts';

export interface SessionFacts {
  readonly user: string;
  readonly database: string;
  readonly isolation: string;
  /** 0 without a limit. */
  readonly statementMs: number;
  readonly transactionMs: number;
}

/** The longest that Tallyhook itself gives a statement or a transaction of many. */
const NEEDED_MS = 5 * MINUTE_MS;

export function judgeSession(facts: SessionFacts): Judgment {
  const { user, database, isolation, statementMs, transactionMs } = facts;
  const set = (name: string, value: string) =>
    `Run: alter role ${quoted(user)} in database ${quoted(database)} set ${name} = ${value}`;
  if (isolation !== 'read committed') {
    return failed(
      `default_transaction_isolation is ${isolation}: statements that meet others fail ("could not serialize access"), and deliveries are refused with 503 then`,
      set('default_transaction_isolation', "'read committed'"),
    );
  }
  const limits = [
    { name: 'statement_timeout', ms: statementMs },
    { name: 'transaction_timeout', ms: transactionMs },
  ];
  const short = limits.find(({ ms }) => ms > 0 && ms < NEEDED_MS);
  if (short) {
    return warning(
      `${short.name} is ${short.ms / SECOND_MS} s: the server cancels what takes longer, so that retention, verify, exports and migrations fail again each time, and a receiver under load refuses deliveries with 503. Tallyhook has limits of its own, up to ${NEEDED_MS / MINUTE_MS} minutes`,
      set(short.name, '0'),
    );
  }
  return ok('no setting of the user, the database or the server cancels or rejects statements');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
