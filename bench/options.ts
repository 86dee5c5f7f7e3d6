/** The flags of `npm run bench`. */
import { FlagError, type Given, readCount, readNames } from './runBench.ts';

export const SCENARIOS = [
  'intake',
  'e2e',
  'steady',
  'journal',
  'distance',
  'overload',
  'bad-days',
  'import',
  'rest',
  'peers',
] as const;
export type Scenario = (typeof SCENARIOS)[number];
/** The others take minutes: each has a purpose of its own. */
const DEFAULT_SCENARIOS: readonly Scenario[] = ['intake', 'e2e', 'steady', 'journal'];

const MAX_ROUND_TRIP_MS = 1_000;

export interface Options {
  readonly scenarios: readonly Scenario[];
  /** Counted time of `e2e`, `steady`, `overload` and each side of a round of `peers`. */
  readonly seconds: number;
  readonly pairs: number;
  /** Events of `bad-days` that wait for a worker. */
  readonly backlog: number;
  /** Events of `bad-days` that are replayed after the backlog, the oldest ones. */
  readonly replay: number;
  /** Payments of `import` that the service has. */
  readonly payments: number;
  /** Of `peers`. */
  readonly rounds: number;
  /** Between workers and database in `distance`, and between ledger and service in `import`; empty: its own ones. */
  readonly roundTripsMs: readonly number[];
  readonly isSingleProcess: boolean;
  readonly redisUrl: string | undefined;
  /** Of a server that runs already; undefined: the one that Tallyhook brings. */
  readonly postgresUrl: string | undefined;
  readonly jsonFile: string | undefined;
  readonly profileDir: string | undefined;
}

/** For what measures with parts of the scenarios. */
export const NO_SCENARIO: Options = {
  scenarios: [],
  seconds: 0,
  backlog: 0,
  replay: 0,
  payments: 0,
  pairs: 1,
  rounds: 1,
  roundTripsMs: [],
  isSingleProcess: false,
  redisUrl: undefined,
  postgresUrl: undefined,
  jsonFile: undefined,
  profileDir: undefined,
};

export const HELP = `npm run bench -- [flags]

  --only PART               one part instead of the first four: intake, e2e, steady, journal, distance, overload,
                            bad-days, import, rest, peers
  --peers                   as --only peers: beside other receivers, which npm installs in a temporary folder
  --seconds N               counted time of e2e, steady, overload, each flood of bad-days and side of a round of peers (30)
  --pairs N                 pairs of intake (5)
  --backlog N               bad-days: events that wait for a worker (50000)
  --replay N                bad-days: events of the backlog that are replayed (50000)
  --payments N              import: payments that the service has (50000)
  --rounds N                rounds of peers, after one that does not count (5)
  --rtt MS                  distance: one round trip to the database (0, 0.5, 2 and 5 after each other);
                            import: one to the service (0 and 150)
  --single                  e2e and steady: one process, as "tallyhook start", instead of three
  --redis                   e2e and steady: queues in the Redis that REDIS_URL names
  --postgres URL            a server of your own, as its superuser, instead of the embedded one
  --json FILE               also write all figures to FILE
  --profile DIR             write a CPU profile of each process of Tallyhook to DIR
  --data-dir DIR            where to make the temporary folder of the database (the system's)

Everything runs on 127.0.0.1: an embedded PostgreSQL with durable settings in a temporary folder, the
servers under test and the load, each in a process of its own. Only installing peers uses the network, with
your settings of npm. Exit code 1: an event was lost, or something broke. A missed target is reported, and does not change the exit code.`;

export const FLAGS = {
  only: [],
  seconds: '30',
  pairs: '5',
  backlog: '50000',
  replay: '50000',
  payments: '50000',
  peers: false,
  rounds: '5',
  rtt: [],
  single: false,
  redis: false,
  postgres: undefined,
  json: undefined,
  profile: undefined,
} as const;

export function readOptions(given: Given<typeof FLAGS>): Options {
  const named = readNames('--only', given.only, SCENARIOS);
  const only = given.peers && !named.includes('peers') ? [...named, 'peers' as const] : named;
  return {
    scenarios: only.length > 0 ? only : DEFAULT_SCENARIOS,
    seconds: readCount('--seconds', given.seconds, 1, 600),
    pairs: readCount('--pairs', given.pairs, 1, 25),
    backlog: readCount('--backlog', given.backlog, 1_000, 5_000_000),
    replay: readCount('--replay', given.replay, 1_000, 5_000_000),
    payments: readCount('--payments', given.payments, 1_000, 5_000_000),
    rounds: readCount('--rounds', given.rounds, 1, 25),
    roundTripsMs: given.rtt.map(readRoundTrip),
    isSingleProcess: given.single,
    redisUrl: given.redis ? redisUrl() : undefined,
    postgresUrl: given.postgres,
    jsonFile: given.json,
    profileDir: given.profile,
  };
}

function readRoundTrip(text: string): number {
  const millis = Number(text);
  if (text !== '' && millis >= 0 && millis <= MAX_ROUND_TRIP_MS) return millis;
  throw new FlagError(`--rtt takes milliseconds from 0 to ${MAX_ROUND_TRIP_MS}, not "${text}"`);
}

function redisUrl(): string {
  const { REDIS_URL } = process.env;
  if (REDIS_URL) return REDIS_URL;
  throw new FlagError('--redis needs REDIS_URL, the address of a Redis that is there for this');
}
