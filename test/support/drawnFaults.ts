/**
 * A combination of the sandbox's faults, drawn by a seed: what goes wrong while a shop trades, and the
 * habits of the service that never stop.
 */
import type { FaultsInput } from '../../src/sandbox/faults/settings.ts';
import type { Random } from './storm.ts';

export interface DrawnFaults {
  /** Share of webhooks that are lost, in percent. */
  readonly lossPercent: number;
  /** While the shop trades. `clock_offset_ms` may hold for the first half only: see `isClockRepaired`. */
  readonly during: FaultsInput;
  /** What stays when the faults stop. */
  readonly after: FaultsInput;
  /** The clock is set right in the middle of the trade. */
  readonly isClockRepaired: boolean;
  /** Names of what is on, for messages. */
  readonly names: string;
}

const LOSS_PERCENTS = [0, 5, 20, 50] as const;

const SECOND_MS = 1_000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long things take that are late: a season of days is played by the sandbox's clock alone. */
const LATENESS_MS = {
  days: {
    soon: 20 * SECOND_MS,
    later: HOUR_MS,
    last: 2 * DAY_MS,
    clockOff: [2 * HOUR_MS, 3 * DAY_MS, -3 * DAY_MS],
  },
  minutes: {
    soon: 5 * SECOND_MS,
    later: 20 * SECOND_MS,
    last: 60 * SECOND_MS,
    clockOff: [2 * HOUR_MS, 3 * DAY_MS, -2 * DAY_MS],
  },
} as const;

export interface Draw {
  /** Numbers the seeds of a run, so that each loss rate gets its share. */
  readonly index: number;
  readonly random: Random;
  readonly pace: keyof typeof LATENESS_MS;
}

export function drawFaults(seed: number, { index, random, pace }: Draw): DrawnFaults {
  const late = LATENESS_MS[pace];
  const lossPercent = LOSS_PERCENTS[index % LOSS_PERCENTS.length] ?? 0;
  const draw = <T>(...choices: readonly T[]): T =>
    choices[Math.floor(random() * choices.length)] as T;
  const omitFields = () => draw([], ['created'], ['version'], ['created', 'version']) as never;
  const webhookHabits = {
    thin: draw(0, 0.5, 1),
    omit_fields: omitFields(),
    one_event_per_type: draw(true, false),
  };
  const clockOffMs = draw(0, 0, 0, ...late.clockOff);
  // What is stamped ahead is in no list before its time has come, and minutes do not bring it.
  const isListedInTime = pace === 'days' || clockOffMs < 0;
  const isClockRepaired = clockOffMs !== 0 && random() < 0.5 && isListedInTime;
  const habits: FaultsInput = {
    seed,
    webhooks: webhookHabits,
    lists: {
      thin: draw(false, true),
      omit_fields: draw([], [], ['version'], ['created']) as never,
      // A lag keeps what everything was, which some tests read: a short one stands for none.
      replica_lag_ms: draw(1, 30 * SECOND_MS),
      sort: draw('created', 'modified'),
      unstable_ties: draw(false, true),
      tick_ms: draw(1, SECOND_MS),
      envelope: draw(undefined, 'has_more', 'count'),
    },
    retrieves: { lag_ms: draw(0, 20 * SECOND_MS), omit_fields: draw([], [], ['created']) as never },
    payments: {
      processing_first: draw(0, 0.3, 1),
      processing_ms: draw(late.soon, late.later, late.last / 2),
      surcharge: draw(0, 0.3, 1),
      early_received: draw(0, 0.5, 1),
    },
    clock_offset_ms: isClockRepaired ? 0 : clockOffMs,
  };
  const broken = { method: 'GET', rate: 0.1 } as const;
  const fault = draw('server_error', 'cut_before', 'cut_after', 'garbage') as 'server_error';
  const during: FaultsInput = {
    ...habits,
    webhooks: {
      ...webhookHabits,
      drop: lossPercent / 100,
      duplicate: draw(0, 0.2),
      delay: draw(0, 0.3),
      delay_ms: late.later,
      reorder: draw(0, 0.3),
      reorder_ms: draw(late.soon, late.last),
      corrupt_signature: draw(0, 0.1),
      late_copy: draw(0, 0.2),
      late_copy_ms: draw(late.later, late.last),
    },
    requests: draw(
      [],
      [{ ...broken, fault }],
      [
        { ...broken, fault },
        { fault, path: '/payments/list', rate: 0.2 },
      ],
    ) as never,
    lists: { ...habits.lists, short_pages: draw(0, 0.3) },
    clock_offset_ms: clockOffMs,
  };
  const names = `loss ${lossPercent} %${clockRepair(isClockRepaired)}, ${nameAll(during)}`;
  return { lossPercent, during, after: habits, isClockRepaired, names };
}

function clockRepair(isClockRepaired: boolean): string {
  return isClockRepaired ? ', clock set right halfway' : '';
}

/** What differs from no faults at all, in short. */
function nameAll({ seed: _, ...faults }: FaultsInput): string {
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
