/**
 * How many requests background work may send, by the operator's settings.
 *
 * *Background*: the lanes that nobody waits for, refresh and discovery.
 *
 * 1. Background lanes stop while less than the reserve is left of the service's rate limit. Discovery
 *    stops a tenth of the limit before refresh, since it can wait longest.
 * 2. With a ceiling, the background lanes of all processes together send at most that many requests a
 *    minute, even if the service allows more or sends no limit.
 *    Without one they are counted all the same, for people.
 * 3. Neither applies to the requests of webhooks and of people.
 */
import { MINUTE_MS } from '../../platform/time.ts';

/** The operator's settings. */
export interface RateSettings {
  /** Percent of the service's limit that background work leaves to the shop. */
  readonly reservePercent: number;
  /** Undefined for no ceiling. */
  readonly backgroundPerMinute: number | undefined;
}

const DISCOVERY_EXTRA = 0.1;
/** Below 1, or background work would never continue. */
const LARGEST_RESERVE = 0.95;

const BACKGROUND_LANES = ['refresh', 'discovery'] as const;

/** The part of the limit that must be left before each background lane may send (rule 1). */
export function reservesOf({
  reservePercent,
}: RateSettings): Readonly<Record<(typeof BACKGROUND_LANES)[number], number>> {
  const refresh = reservePercent / 100;
  return { refresh, discovery: Math.min(refresh + DISCOVERY_EXTRA, LARGEST_RESERVE) };
}

/**
 * How many requests a minute discovery may send at most.
 * @param limit the service's; null while it is not known
 * @returns undefined where nothing limits it
 */
export function discoveryPerMinute(
  settings: RateSettings,
  limit: number | null,
): number | undefined {
  const byLimit = limit === null ? undefined : limit * (1 - reservesOf(settings).discovery);
  const { backgroundPerMinute } = settings;
  if (byLimit === undefined || backgroundPerMinute === undefined) {
    return byLimit ?? backgroundPerMinute;
  }
  return Math.min(byLimit, backgroundPerMinute);
}

/** The background requests of the current minute. */
export interface BackgroundUse {
  readonly requests: number;
  /** When the minute began; undefined before the first request. */
  readonly fromMs: number | undefined;
}

/** The use of the minute that is running. */
export function currentMinute(
  { fromMs = 0, requests }: BackgroundUse,
  nowMs: number,
): BackgroundUse & { readonly fromMs: number } {
  // A clock that was set back starts a new minute, too.
  const isOver = nowMs >= fromMs + MINUTE_MS || nowMs < fromMs;
  return isOver ? { requests: 0, fromMs: nowMs } : { requests, fromMs };
}

/**
 * Acquires one request below the ceiling (rules 2 and 3).
 * @returns the use with it, and how long to wait before trying again; 0 when it was acquired
 */
export function acquireBelowCeiling(
  use: BackgroundUse,
  { lane, settings, nowMs }: Request,
): { readonly use: BackgroundUse; readonly waitMs: number } {
  const { backgroundPerMinute } = settings;
  const isBackground = BACKGROUND_LANES.some((background) => background === lane);
  if (!isBackground) return { use, waitMs: 0 };
  const current = currentMinute(use, nowMs);
  if (backgroundPerMinute === undefined || current.requests < backgroundPerMinute) {
    return { use: { ...current, requests: current.requests + 1 }, waitMs: 0 };
  }
  return { use: current, waitMs: current.fromMs + MINUTE_MS - nowMs };
}

interface Request {
  /** One of the client's. */
  readonly lane: string;
  readonly settings: RateSettings;
  readonly nowMs: number;
}
