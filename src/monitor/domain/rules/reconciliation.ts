/** Whether the ledger is reconciled, and the service reachable for it. */
import { givenReason, instant, quote, span } from '../../../alerts/domain/format.ts';
import { counted } from '../../../platform/counted.ts';
import { HOUR_MS, MINUTE_MS } from '../../../platform/time.ts';
import type { SystemFacts } from '../facts.ts';
import type { SystemAlert } from '../systemAlert.ts';

/** The newest window is compared every 5 minutes: six runs have failed. */
const LAG_MS = 35 * MINUTE_MS;
const CRITICAL_LAG_MS = 6 * HOUR_MS;

/** Longer than an attended maintenance. */
const PAUSE_MS = 4 * HOUR_MS;

/** Two reconciliation runs failed. */
export const UNUSABLE_MS = 10 * MINUTE_MS;
const CRITICAL_UNUSABLE_MS = HOUR_MS;

/** The rate limit counts requests per minute; a burst exhausts a minute or two. */
export const RATE_WINDOW_MS = 15 * MINUTE_MS;
const EXHAUSTED_MINUTES = 10;

/**
 * A first import may take long, so a list without a watermark lags only while nothing is read of it. A list
 * that the service refuses is in another alert, or accepted.
 */
export function reconciliationLag(facts: SystemFacts): SystemAlert | undefined {
  const { watermarks = [], unread = [], unusable = [] } = facts.reconciliation ?? {};
  const explained = new Set(unusable.flatMap(({ source, isOpen }) => (isOpen ? source : [])));
  const [oldest] = [
    ...watermarks.map(({ stream, atMs }) => ({ stream, atMs, isRead: true })),
    ...unread.map(({ stream, sinceMs }) => ({ stream, atMs: sinceMs, isRead: false })),
  ]
    .filter(({ stream }) => !explained.has(stream))
    .toSorted((a, b) => a.atMs - b.atMs);
  if (!oldest) return undefined;
  const { stream, atMs, isRead } = oldest;
  const isOpen = facts.openRules.has('reconciliation_lag');
  const sinceMs = isOpen ? atMs : Math.max(atMs, facts.watchingSinceMs);
  if (facts.nowMs - sinceMs < LAG_MS) return undefined;
  const ageMs = facts.nowMs - atMs;
  return {
    rule: 'reconciliation_lag',
    severity: ageMs >= CRITICAL_LAG_MS ? 'critical' : 'warning',
    sentence: isRead
      ? `The list of ${stream} is reconciled up to ${instant(atMs)} only, ${span(ageMs)} ago. Changes since then that webhooks missed are not in the ledger.`
      : `The list of ${stream} was never read to its end, and nothing has been read of it since ${instant(atMs)}, ${span(ageMs)} ago. What webhooks missed is not in the ledger.`,
    nextStep:
      'Check that a process with the role reconcile runs; npx tallyhook reconcile shows why runs fail',
    detail: { stream, watermark: isRead ? new Date(atMs).toISOString() : null },
  };
}

export function reconciliationPaused({
  nowMs,
  reconciliation,
}: SystemFacts): SystemAlert | undefined {
  const paused = reconciliation?.paused;
  if (!paused || nowMs - paused.sinceMs < PAUSE_MS) return undefined;
  const { sinceMs, by, reason } = paused;
  return {
    rule: 'reconciliation_paused',
    severity: 'warning',
    sentence: `${quote(by)} paused reconciliation at ${instant(sinceMs)}.${givenReason(reason)} Changes that webhooks miss are not found, and authorizations are not confirmed.`,
    nextStep: 'When the reason is gone: npx tallyhook resume',
    detail: { pausedAt: new Date(sinceMs).toISOString(), pausedBy: by, reason },
  };
}

/**
 * A list or kind that alone is refused is no outage: to look for one would waste a night. An outage has an
 * alert of its own, which also notifies where the other one has been open for days. It ends list by list,
 * within minutes, and is no refusal of the last ones meanwhile.
 */
export function serviceUnreachable({
  nowMs,
  reconciliation,
}: SystemFacts): SystemAlert | undefined {
  const { lists, unusable } = reconciliation ?? { lists: [], unusable: [] };
  const [oldest, ...others] = unusable
    .filter(({ isOpen, isAccepted }) => isOpen && !isAccepted)
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
  if (!oldest || nowMs - oldest.sinceMs < UNUSABLE_MS) return undefined;
  const { sinceMs } = oldest;
  const requests = [oldest, ...others].map(({ source }) => source);
  const isOutage = lists.every((list) => unusable.some(({ source }) => source === list));
  return {
    rule: 'service_unreachable',
    ...(!isOutage && { variant: 'partial' }),
    severity: nowMs - sinceMs >= CRITICAL_UNUSABLE_MS ? 'critical' : 'warning',
    sentence: isOutage
      ? `The payment service has been unreachable since ${instant(sinceMs)}. Nothing is reconciled: changes that webhooks miss are not found.`
      : `The payment service has failed or refused some requests since ${instant(sinceMs)}: ${requests.map(nameOf).join(', ')}. Changes there that webhooks miss are not found; the rest is reconciled.`,
    nextStep:
      'npx tallyhook doctor shows whether the address, the key or the service is the cause; npx tallyhook findings list --class service_unusable shows the reasons',
    detail: { since: new Date(sinceMs).toISOString(), requests },
  };
}

function nameOf(source: string): string {
  if (source === 'refresh') return 'retrieves';
  const [, kind] = source.split(':');
  return kind === undefined ? `the list of ${source}` : `retrieves of ${kind}`;
}

export function rateExhausted({
  exhaustedMinutes,
  openRules,
}: SystemFacts): SystemAlert | undefined {
  if (exhaustedMinutes < (openRules.has('rate_limit_exhausted') ? 1 : EXHAUSTED_MINUTES))
    return undefined;
  return {
    rule: 'rate_limit_exhausted',
    severity: 'warning',
    sentence: `In ${counted(exhaustedMinutes, 'minute')} of the last ${RATE_WINDOW_MS / MINUTE_MS} the rate limit of the payment service was exhausted. The service rejects requests of the shop, too, and reconciliation waits.`,
    nextStep:
      'Find the program that uses the API key so often, or request a higher limit from the service',
    detail: { exhaustedMinutes },
  };
}
