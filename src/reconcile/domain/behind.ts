/**
 * Whether the ledger is still behind an event after a response.
 *
 * Terms. *Behind*: an event that was not applied showed a state that the ledger may lack, so the resource is
 * retrieved.
 *
 * 1. A response may come from a replica that lags. One that carries an older version than the event leaves
 *    the ledger behind, and the retrieve is repeated.
 * 2. Where the event or the response carries no version, only a request that was sent SETTLING_MS or more after
 *    the event counts, as for excesses (alerts/domain/rules/excesses.ts). "Not found" carries none.
 * 3. A request that was sent a day after the event ends it in any case: its version may come from a wrong
 *    clock.
 */
import { SETTLING_MS } from '../../alerts/domain/rules/excesses.ts';
import { DAY_MS } from '../../platform/time.ts';

/** Which event the ledger is behind. */
export interface Behind {
  /** Since the event; null where the ledger is not behind. */
  readonly behindForMs: number | null;
  /** The version of the object in the event. */
  readonly behindMicros: number | null;
}

export interface BehindResponse {
  readonly sentMsAgo: number;
  /** The version that it carries. */
  readonly versionMicros: number | undefined;
}

export function staysBehind(
  { behindForMs, behindMicros }: Behind,
  { sentMsAgo, versionMicros }: BehindResponse,
): boolean {
  if (behindForMs === null) return false;
  const sentAfterMs = behindForMs - sentMsAgo;
  if (sentAfterMs >= DAY_MS) return false;
  if (behindMicros === null || versionMicros === undefined) return sentAfterMs < SETTLING_MS;
  return versionMicros < behindMicros;
}
