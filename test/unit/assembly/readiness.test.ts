/** Which failed checks make which process unready. */
import { expect, test } from 'vitest';
import {
  type CheckName,
  type CheckResults,
  judgeReadiness,
} from '../../../src/assembly/readiness.ts';
import { ROLES, type Role } from '../../../src/assembly/roles.ts';

const CHECKS = ['database', 'migrations', 'clock', 'queue', 'pending'] as const;

function resultsWith(failed: readonly CheckName[]): CheckResults {
  const entries = CHECKS.map((name) => [
    name,
    { isOk: !failed.includes(name), text: `about ${name}` },
  ]);
  return Object.fromEntries(entries) as CheckResults;
}

function isReady(roles: readonly Role[], failed: CheckName): boolean {
  return judgeReadiness(new Set(roles), resultsWith([failed])).ready;
}

test.each<[readonly Role[], readonly CheckName[]]>([
  [['receiver'], ['database', 'migrations', 'clock']],
  [['console'], ['database', 'migrations']],
  [['events'], ['database', 'migrations', 'queue', 'pending']],
  [['reconcile'], ['database', 'migrations', 'queue']],
  [['alerts'], ['database', 'migrations']],
  [['scheduler'], ['database', 'migrations', 'queue']],
  [
    ['events', 'alerts'],
    ['database', 'migrations', 'queue', 'pending'],
  ],
  [ROLES, ['database', 'migrations', 'clock']],
])('a process with the roles %j is unready without %j', (roles, needed) => {
  expect(CHECKS.filter((name) => !isReady(roles, name))).toEqual(needed);
});

test('every failed check is reported as degraded, with its text, by a ready process too', () => {
  expect(judgeReadiness(new Set<Role>(['receiver']), resultsWith(['queue']))).toEqual({
    ready: true,
    degraded: true,
    checks: {
      database: 'about database',
      migrations: 'about migrations',
      clock: 'about clock',
      queue: 'about queue',
      pending: 'about pending',
    },
  });
  expect(judgeReadiness(new Set<Role>(['receiver']), resultsWith([])).degraded).toBe(false);
});
