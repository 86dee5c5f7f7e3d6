/** Judges the standby that the console reads from. */
import { type Judgment, ok, warning } from './judge.ts';

/** What a standby in one data center has replayed after the time of a few commits. */
const NEAR_BYTES = 16 * 1024 * 1024;

export interface StandbyFacts {
  /** Why it cannot be compared with the primary; undefined if it can. */
  readonly problem: string | undefined;
  readonly behindBytes: number;
}

/** @param standby an Error if it could not be read */
export function judgeStandby(standby: StandbyFacts | Error): Judgment {
  if (standby instanceof Error) {
    return warning(
      `it cannot be read, so pages and lists are read from the primary: ${standby.message}`,
      'Start the standby, or correct DATABASE_READ_URL.',
    );
  }
  const { behindBytes, problem } = standby;
  if (problem !== undefined) {
    return warning(
      `${problem}, so pages and lists are read from the primary`,
      'Set DATABASE_READ_URL to a standby that follows the server of DATABASE_URL.',
    );
  }
  const behind = `${Math.max(0, Math.ceil(behindBytes / 1024))} KiB of log behind the primary`;
  return behindBytes <= NEAR_BYTES
    ? ok(`a standby of this cluster, ${behind}`)
    : warning(
        `${behind}: while it is more than ten seconds behind, pages and lists are read from the primary`,
        'Find out what delays it: its disk, the network, or a query that conflicts with the replay (max_standby_streaming_delay).',
      );
}
