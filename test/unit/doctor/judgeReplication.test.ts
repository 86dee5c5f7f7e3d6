import { expect, test } from 'vitest';
import {
  judgeReplication,
  type ReplicationFacts,
} from '../../../src/doctor/domain/judgeReplication.ts';

const SYNCHRONOUS: ReplicationFacts = {
  synchronousCommit: 'on',
  synchronousStandbyNames: '2 (a, b)',
  fsync: 'on',
  fullPageWrites: 'on',
  standbys: 2,
  synchronous: 2,
  isPatroni: false,
};
const ALONE = { synchronousStandbyNames: '', standbys: 0, synchronous: 0 };

test.each<[string, Partial<ReplicationFacts>, string, RegExp]>([
  ['a synchronous standby', {}, 'ok', /on 2 synchronous standby/],
  ['one under Patroni', { isPatroni: true }, 'ok', /synchronous_mode_strict keeps it/],
  ['no standby at all', ALONE, 'ok', /on the disk of this server/],
  ['an asynchronous standby', { ...ALONE, standbys: 1 }, 'warning', /can lose/],
  ['no synchronous standby connected', { synchronous: 0 }, 'failed', /commits wait/],
  ['commits in memory', { synchronousCommit: 'off' }, 'failed', /synchronous_commit is off/],
  ['commits on this disk alone', { synchronousCommit: 'local' }, 'failed', /do not wait/],
  ['local commits without a standby', { ...ALONE, synchronousCommit: 'local' }, 'ok', /disk/],
  ['no fsync', { fsync: 'off' }, 'failed', /fsync is off/],
  ['no full pages', { fullPageWrites: 'off' }, 'failed', /full_page_writes is off/],
])('%s', (_, changes, state, result) => {
  const judgment = judgeReplication({ ...SYNCHRONOUS, ...changes });
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy === null).toBe(state === 'ok');
});
