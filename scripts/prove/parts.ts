/**
 * The parts of `npm run prove`: which test or bench shows each figure, how often in the short and in the long
 * form, and how it is run. A part measures nothing itself.
 */
import type { RecordKind } from './records.ts';

/** A process that a part runs. */
export type Invocation =
  | {
      readonly runs: 'test';
      readonly file: string;
      /** Part of the names of the tests to run; all of the file without one. */
      readonly named?: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly runs: 'bench';
      /** Compiled, below dist/. */
      readonly module: string;
      readonly args: readonly string[];
      readonly reads: 'speed' | 'growth';
    };

export interface Part {
  readonly name: string;
  readonly kind: RecordKind;
  /** What is counted, in words. */
  readonly unit: string;
  readonly short: number;
  readonly long: number;
  /** Whether a seed chooses what happens; without one it is always the same. */
  readonly isSeeded: boolean;
  readonly invocations: (seed: number, count: number) => readonly Invocation[];
}

const KILL_UNIT = 'kills';

function killRole(role: string): Part {
  return {
    name: `kill-${role}`,
    kind: 'kills',
    unit: `${KILL_UNIT} with each queue`,
    short: 5,
    long: 100,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/kill.test.ts',
        named: 'each worker process',
        env: { TEST_SEED: String(seed), KILLED_ROLES: role, ROLE_KILLS: String(count) },
      },
    ],
  };
}

/** Kills of any process in a seed of test/flow/killWhileHealing.test.ts. */
const KILLS_OF_SEED = 5;

const consecutive = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, n) => seed + n).join(',');

const PAYMENTS_OF_SEED = 1_000;
const ROUNDS_OF_SEED = 5;

function speed(name: string, kind: RecordKind, options: Pick<Part, 'unit' | 'short' | 'long'>) {
  return (argsOf: (count: number) => readonly (readonly string[])[]): Part => ({
    name,
    kind,
    ...options,
    isSeeded: false,
    invocations: (_seed, count) =>
      argsOf(count).map((args) => ({
        runs: 'bench',
        module: 'bench/main.js',
        args,
        reads: 'speed',
      })),
  });
}

const END_TO_END_SECONDS = '30';

export const PARTS: readonly Part[] = [
  {
    name: 'kill-all',
    kind: 'kills',
    unit: KILL_UNIT,
    short: 5,
    long: 100,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/kill.test.ts',
        named: 'single process',
        env: { TEST_SEED: String(seed), SINGLE_KILLS: String(count) },
      },
    ],
  },
  killRole('receiver'),
  killRole('events'),
  {
    name: 'kill-reconcile',
    kind: 'kills',
    unit: KILL_UNIT,
    short: 5,
    long: 100,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/killWhileHealing.test.ts',
        env: {
          HEAL_SEED: consecutive(seed, Math.ceil(count / KILLS_OF_SEED)),
          HEAL_KILLED: 'reconcile',
        },
      },
    ],
  },
  killRole('alerts'),
  killRole('scheduler'),
  {
    name: 'kill-database',
    kind: 'kills',
    unit: KILL_UNIT,
    short: 3,
    long: 100,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/databaseUnavailable.test.ts',
        named: 'through kill -9 of PostgreSQL',
        env: { TEST_SEED: String(seed), DATABASE_KILLS: String(count) },
      },
    ],
  },
  {
    name: 'fail-over',
    kind: 'kills',
    unit: 'failovers',
    short: 2,
    long: 50,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/failover.test.ts',
        env: { TEST_SEED: String(seed), FAILOVERS: String(count) },
      },
    ],
  },
  {
    name: 'kill-redis',
    kind: 'kills',
    unit: `${KILL_UNIT} of each kind`,
    short: 2,
    long: 50,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/redisFleets.test.ts',
        named: 'killed primaries',
        env: { TEST_SEED: String(seed), REDIS_KILLS: String(count) },
      },
    ],
  },
  {
    name: 'repair',
    kind: 'repair',
    unit: 'seeds',
    short: 4,
    long: 40,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/reconcile/repair.test.ts',
        env: {
          RECONCILE_SEED: consecutive(seed, count),
          RECONCILE_ORDERS: String(PAYMENTS_OF_SEED / ROUNDS_OF_SEED),
        },
      },
    ],
  },
  {
    name: 'alerts',
    kind: 'alerts',
    unit: 'orders',
    short: 80,
    long: 10_000,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/flow/falseAlarms.test.ts',
        env: { ALARM_SEED: String(seed), ALARM_ORDERS: String(count) },
      },
    ],
  },
  {
    name: 'captures',
    kind: 'captures',
    unit: 'holds',
    short: 40,
    long: 2_000,
    isSeeded: true,
    invocations: (seed, count) => [
      {
        runs: 'test',
        file: 'test/authorizations/policyUnderFaults.test.ts',
        env: { TEST_SEED: String(seed), POLICY_HOLDS: String(count) },
      },
    ],
  },
  {
    name: 'bytes',
    kind: 'bytes',
    unit: 'events',
    short: 20_000,
    long: 1_000_000,
    isSeeded: false,
    invocations: (_seed, count) => [
      {
        runs: 'bench',
        module: 'bench/growth/main.js',
        args: ['--only', 'sizes', '--events', String(count)],
        reads: 'growth',
      },
    ],
  },
  speed('intake', 'intake', { unit: 'pairs', short: 3, long: 11 })((count) => [
    ['--only', 'intake', '--pairs', String(count)],
  ]),
  speed('end-to-end', 'end_to_end', { unit: '× 30 s', short: 1, long: 5 })((count) =>
    Array.from({ length: count }, () => ['--only', 'e2e', '--seconds', END_TO_END_SECONDS]),
  ),
  speed('steady', 'steady', { unit: 'seconds at each rate', short: 15, long: 300 })((count) => [
    ['--only', 'steady', '--seconds', String(count)],
  ]),
];

/** Speed is measured with nothing beside it. What is lost, doubled or missed does not depend on that. */
export function measuresSpeed({ kind }: Part): boolean {
  return kind === 'intake' || kind === 'end_to_end' || kind === 'steady';
}

/** @returns undefined if no part has the name */
export function findPart(name: string): Part | undefined {
  return PARTS.find((part) => part.name === name);
}

/** The command that repeats a part alone. */
export function commandOf(one: {
  readonly part: string;
  readonly seed: number | null;
  readonly count: number;
}): string {
  const seed = one.seed === null ? '' : ` --seed ${one.seed}`;
  return `npm run prove -- --only ${one.part}${seed} --count ${one.count}`;
}
