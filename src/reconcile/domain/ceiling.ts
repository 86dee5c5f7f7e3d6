/**
 * What background work may ask of the service, by what operators set.
 *
 * *Background*: the lanes that nobody waits for, refresh and discovery.
 *
 * 1. Background lanes stop while less than the reserve is left of the service's limit; discovery a
 *    tenth of the limit before refresh, since it may wait longest.
 * 2. With a ceiling, all background lanes of all processes together take so many requests a minute at
 *    most, whatever the service allows, and also where it tells no limit.
 * 3. Neither concerns what a webhook caused, or what a person asked for.
 */
import { MINUTE_MS } from '../../platform/time.ts';

/** What operators set. */
export interface RateSettings {
  /** Percent of the service's limit that background work leaves to the shop. */
  readonly reservePercent: number;
  /** Undefined for no ceiling. */
  readonly backgroundPerMinute: number | undefined;
}

const DISCOVERY_EXTRA = 0.1;
/** Something must be left to take, or background work would never go on. */
const LARGEST_RESERVE = 0.95;

const BACKGROUND_LANES = ['refresh', 'discovery'] as const;

/** The part of the limit that must be left for each background lane to take (rule 1). */
export function reservesOf({
  reservePercent,
}: RateSettings): Readonly<Record<(typeof BACKGROUND_LANES)[number], number>> {
  const refresh = reservePercent / 100;
  return { refresh, discovery: Math.min(refresh + DISCOVERY_EXTRA, LARGEST_RESERVE) };
}

/**
 * How many requests a minute discovery may make at most.
 * @param limit the service's; null while it has not told one
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

/** How much background work has asked. */
export interface BackgroundUse {
  readonly taken: number;
  /** Since when; undefined before the first. */
  readonly fromMs: number | undefined;
}

/**
 * Takes one request below the ceiling (rules 2 and 3).
 * @returns the use with it, and how long to wait before asking again; 0 when it was taken
 */
export function takeBelowCeiling(
  use: BackgroundUse,
  { lane, settings, nowMs }: Request,
): { readonly use: BackgroundUse; readonly waitMs: number } {
  const { backgroundPerMinute } = settings;
  const isBackground = BACKGROUND_LANES.some((background) => background === lane);
  if (!isBackground || backgroundPerMinute === undefined) return { use, waitMs: 0 };
  const { fromMs = nowMs, taken } = use;
  // A clock that went back begins anew, too.
  const isOver = nowMs >= fromMs + MINUTE_MS || nowMs < fromMs;
  const current = isOver ? { taken: 0, fromMs: nowMs } : { taken, fromMs };
  if (current.taken < backgroundPerMinute) {
    return { use: { ...current, taken: current.taken + 1 }, waitMs: 0 };
  }
  return { use: current, waitMs: current.fromMs + MINUTE_MS - nowMs };
}

interface Request {
  /** One of the client's. */
  readonly lane: string;
  readonly settings: RateSettings;
  readonly nowMs: number;
}
