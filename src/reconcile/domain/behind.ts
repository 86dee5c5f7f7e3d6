/**
 * Whether a response leaves the ledger behind, so that the retrieve is repeated.
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
 * 4. A response that shows something else than the ledger with an older version shows nothing while a replica may lag.
 *    It is repeated when it counts (ledger/domain/epochs.ts), also for what is final: nothing else may ever show it.
 */
import { SETTLING_MS } from '../../alerts/domain/rules/excesses.ts';
import { isSameCapture } from '../../contract/statuses.ts';
import { countsInMicros } from '../../ledger/domain/epochs.ts';
import { capturedOf, type SnapshotContent } from '../../ledger/domain/snapshot.ts';
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

/** What the ledger has of a resource, with a response applied. */
interface LedgerState {
  readonly status: string | null;
  readonly stage: string | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly capturedMinor: number;
  readonly versionMicros: number | null;
}

/**
 * In how many milliseconds a response counts that shows something else than the ledger (rule 4).
 * @returns undefined for one that counts now or shows the same
 */
export function countsInMs(
  {
    content,
    observedMicros,
  }: { readonly content: SnapshotContent; readonly observedMicros: number },
  ledger: LedgerState,
): number | undefined {
  const { status = ledger.status, stage = ledger.stage, versionMicros } = content;
  const { amountMinor = ledger.amountMinor, currency = ledger.currency } = content;
  const capturedMinor = capturedOf(content) ?? ledger.capturedMinor;
  const isSame =
    status === ledger.status &&
    stage === ledger.stage &&
    amountMinor === ledger.amountMinor &&
    currency === ledger.currency &&
    isSameCapture(capturedMinor, ledger);
  const leftMicros = countsInMicros({ versionMicros, observedMicros }, ledger.versionMicros);
  return isSame || leftMicros === undefined ? undefined : Math.ceil(leftMicros / 1000);
}
