/**
 * Judges whether the settings of the database keep the promise that an acknowledged event is not lost: on the disk
 * of one server, and through a failover to a standby. docs/guides/deployment.md names these settings.
 */
import { counted } from '../../platform/counted.ts';
import { failed, type Judgment, ok, warning } from './judge.ts';

export interface ReplicationFacts {
  /** Of the connection, so also if it is set for the role or the database. */
  readonly synchronousCommit: string;
  readonly synchronousStandbyNames: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  /** Standbys that are connected, and those of them that commits wait for. */
  readonly standbys: number;
  readonly synchronous: number;
  /** Whether Patroni is connected. */
  readonly isPatroni: boolean;
}

/** With these values a commit is on the disk of a standby when it is reported; `remote_write`: in its memory. */
const WAITING = ['on', 'remote_apply', 'remote_write'];

const PATRONI =
  'With Patroni, synchronous_mode alone empties synchronous_standby_names when no standby is left, and goes on; ' +
  'synchronous_mode_strict keeps it.';

export function judgeReplication(facts: ReplicationFacts): Judgment {
  const { synchronousCommit, synchronousStandbyNames, standbys, synchronous, isPatroni } = facts;
  const unsafe = facts.fsync === 'off' ? 'fsync' : 'full_page_writes';
  if (facts.fsync === 'off' || facts.fullPageWrites === 'off') {
    return failed(
      `${unsafe} is off: a crash of the server can lose or damage what is acknowledged`,
      `Set ${unsafe} = on.`,
    );
  }
  if (synchronousCommit === 'off') {
    return failed(
      'synchronous_commit is off: a crash of the server loses what it acknowledged last',
      'Set synchronous_commit = on, also for the role and the database of DATABASE_URL.',
    );
  }
  if (synchronousStandbyNames === '') {
    return standbys === 0
      ? ok('acknowledged events are on the disk of this server; no standby is connected')
      : warning(
          `${counted(standbys, 'standby')}, none of them synchronous: a failover can lose what was acknowledged last`,
          `Set synchronous_standby_names; with Patroni synchronous_mode and synchronous_mode_strict. ${isPatroni ? PATRONI : ''}`.trim(),
        );
  }
  if (!WAITING.includes(synchronousCommit)) {
    return failed(
      `synchronous_commit is ${synchronousCommit}: commits do not wait for the synchronous standby, so a failover can lose what was acknowledged last`,
      'Set synchronous_commit = on, also for the role and the database of DATABASE_URL.',
    );
  }
  if (synchronous === 0) {
    return failed(
      `no synchronous standby is connected (synchronous_standby_names = ${synchronousStandbyNames}): commits wait, and deliveries are refused with 503`,
      'Bring the standby back, or name another one.',
    );
  }
  const kept = `acknowledged events are on ${counted(synchronous, 'synchronous standby')} of ${standbys}`;
  return ok(isPatroni ? `${kept}. ${PATRONI}` : kept);
}
