/**
 * A random combination of the sandbox's faults, repeatable by its seed: faults that are active while a
 * shop trades, and variants of the service's behavior that stay.
 */
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/platform/time.ts';
import type { FaultsInput } from '../../src/sandbox/faults/settings.ts';
import type { Random } from './random.ts';

export interface RandomFaults {
  /** Percentage of webhooks that are lost. */
  readonly lossPercent: number;
  /** Active while the shop trades; `clock_offset_ms` only for the first half if `isClockRepaired`. */
  readonly during: FaultsInput;
  /** Active after the faults stop. */
  readonly after: FaultsInput;
  /** Whether the clock offset is removed halfway through the trade. */
  readonly isClockRepaired: boolean;
  /** Describes the active faults, for messages. */
  readonly names: string;
}

const LOSS_PERCENTS = [0, 5, 20, 50] as const;

/** Delays, by pace: days pass only on the sandbox's clock. */
const DELAYS_MS = {
  days: {
    soon: 20 * SECOND_MS,
    later: HOUR_MS,
    last: 2 * DAY_MS,
    clockOffsets: [2 * HOUR_MS, 3 * DAY_MS, -3 * DAY_MS],
  },
  minutes: {
    soon: 5 * SECOND_MS,
    later: 20 * SECOND_MS,
    last: 60 * SECOND_MS,
    clockOffsets: [2 * HOUR_MS, 3 * DAY_MS, -2 * DAY_MS],
  },
} as const;

export interface RandomFaultsOptions {
  /** Position of the seed in its run; consecutive seeds cycle through the loss rates. */
  readonly index: number;
  readonly random: Random;
  readonly pace: keyof typeof DELAYS_MS;
}

export function randomFaults(
  seed: number,
  { index, random, pace }: RandomFaultsOptions,
): RandomFaults {
  const late = DELAYS_MS[pace];
  const lossPercent = LOSS_PERCENTS.at(index % LOSS_PERCENTS.length) ?? 0;
  const pick = <T>(...choices: readonly T[]): T =>
    choices[Math.floor(random() * choices.length)] as T;
  const omitFields = () => pick([], ['created'], ['version'], ['created', 'version']) as never;
  const webhookVariants = {
    short_objects: pick(0, 0.5, 1),
    omit_fields: omitFields(),
    one_event_per_type: pick(true, false),
  };
  const clockOffsetMs = pick(0, 0, 0, ...late.clockOffsets);
  // A resource dated in the future is not listed until then, which a test of minutes does not reach.
  const isListedInTime = pace === 'days' || clockOffsetMs < 0;
  const isClockRepaired = clockOffsetMs !== 0 && random() < 0.5 && isListedInTime;
  const variants: FaultsInput = {
    seed,
    webhooks: webhookVariants,
    lists: {
      short_rows: pick(false, true),
      omit_fields: pick([], [], ['version'], ['created']) as never,
      // With a lag the sandbox keeps past states, which some tests read: the shortest serves as none.
      replica_lag_ms: pick(1, 30 * SECOND_MS),
      sort: pick('created', 'modified'),
      unstable_ties: pick(false, true),
      tick_ms: pick(1, SECOND_MS),
      envelope: pick(undefined, 'has_more', 'count'),
    },
    retrieves: { lag_ms: pick(0, 20 * SECOND_MS), omit_fields: pick([], [], ['created']) as never },
    payments: {
      processing_first: pick(0, 0.3, 1),
      processing_ms: pick(late.soon, late.later, late.last / 2),
      surcharge: pick(0, 0.3, 1),
      early_received: pick(0, 0.5, 1),
    },
    clock_offset_ms: isClockRepaired ? 0 : clockOffsetMs,
  };
  const broken = { method: 'GET', rate: 0.1 } as const;
  const fault = pick('server_error', 'cut_before', 'cut_after', 'garbage') as 'server_error';
  const during: FaultsInput = {
    ...variants,
    webhooks: {
      ...webhookVariants,
      drop: lossPercent / 100,
      duplicate: pick(0, 0.2),
      delay: pick(0, 0.3),
      delay_ms: late.later,
      reorder: pick(0, 0.3),
      reorder_ms: pick(late.soon, late.last),
      corrupt_signature: pick(0, 0.1),
      late_copy: pick(0, 0.2),
      late_copy_ms: pick(late.later, late.last),
    },
    requests: pick(
      [],
      [{ ...broken, fault }],
      [
        { ...broken, fault },
        { fault, path: '/payments/list', rate: 0.2 },
      ],
    ) as never,
    lists: { ...variants.lists, short_pages: pick(0, 0.3) },
    clock_offset_ms: clockOffsetMs,
  };
  const names = `loss ${lossPercent} %${clockRepair(isClockRepaired)}, ${describeFaults(during)}`;
  return { lossPercent, during, after: variants, isClockRepaired, names };
}

function clockRepair(isClockRepaired: boolean): string {
  return isClockRepaired ? ', clock offset removed halfway' : '';
}

/** A short description of everything that differs from no faults. */
function describeFaults({ seed: _, ...faults }: FaultsInput): string {
  return Object.entries(faults)
    .flatMap(([group, value]) => namesOf(group, value))
    .join(' ');
}

function namesOf(name: string, value: unknown): readonly string[] {
  if (OFF.has(value) || (Array.isArray(value) && value.length === 0)) return [];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([field, one]) => namesOf(`${name}.${field}`, one));
  }
  return [`${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`];
}

const OFF = new Set<unknown>([0, false, undefined, 'created']);
