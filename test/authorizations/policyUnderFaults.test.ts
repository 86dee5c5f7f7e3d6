/**
 * A policy captures many holds while the service has random faults, three processes check at the same time, and
 * some end after they claimed an attempt or after they sent it: every hold is captured, and none twice. Numbers
 * refer to the rules of src/authorizations/domain/attempts.ts.
 *
 * A proxy in front of the service counts the requests, so that those of a process that ended are counted, too.
 * POLICY_HOLDS sets the number of holds; TEST_SEED repeats a run.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type {
  AuthorizationRequest,
  AuthorizationService,
} from '../../src/authorizations/authorizationService.ts';
import { groupBy } from '../../src/platform/collections.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Random, seededRandom, testSeed } from '../support/random.ts';
import { recordFigures } from '../support/recordFigures.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

const SEED = testSeed();
const HOLDS = Number(process.env.POLICY_HOLDS ?? 16);
/** Their faults are set together; a sandbox has 50 faults of single requests at most. */
const HOLDS_AT_ONCE = 70;
const WEEK_MS = 7 * 24 * HOUR_MS;
const HOURS = 6;
const AMOUNT_MINOR = 6_540;
/** Longer than all waits for one hold together, and far from its deadline. */
const CHECKED_MINUTES = 40;
/** Retrieves show the state of this long ago, or the current one. */
const LAGS_MS = [0, 20_000];

/** What goes wrong with the first captures of a hold. */
const FAULTS = {
  none: {},
  'HTTP 503': { request: { fault: 'server_error', status: 503 }, isWithoutEffect: true },
  'connection closed before the capture': {
    request: { fault: 'cut_before' },
    isWithoutEffect: true,
  },
  'response lost after the capture': { request: { fault: 'cut_after' } },
  'response about another payment': { request: { fault: 'mixed_up' } },
  'process ended before it sent the capture': { ends: 'before' },
  'process ended before it read the response': { ends: 'after' },
} as const satisfies Readonly<Record<string, Fault>>;

interface Fault {
  readonly request?: object;
  /** Whether the request may be repeated. */
  readonly isWithoutEffect?: boolean;
  readonly ends?: 'before' | 'after';
}

const NAMES = Object.keys(FAULTS) as (keyof typeof FAULTS)[];

interface Hold {
  readonly id: string;
  readonly name: keyof typeof FAULTS;
  readonly fault: Fault;
  /** How often its fault occurs. */
  readonly times: number;
}

let db: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  proxy = await startRecordingProxy(sandbox.baseUrl);
});
afterEach(async () => {
  await proxy.close();
  await sandbox.close();
  await db.drop();
});

/** What ends a run as the end of its process does: nothing that follows the request is done. */
class ProcessEnded extends Error {}

/** The service, used by a process that ends once for each of these holds. */
function endingAt(ends: Map<string, Fault['ends']>, service: AuthorizationService) {
  return {
    ...service,
    act: async (request: AuthorizationRequest) => {
      const end = ends.get(request.paymentId);
      ends.delete(request.paymentId);
      if (end === 'before') throw new ProcessEnded();
      const outcome = await service.act(request);
      if (end === 'after') throw new ProcessEnded();
      return outcome;
    },
  };
}

test(`${HOLDS} holds are captured under faults, each once (rules 2 and 3, seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const ends = new Map<string, Fault['ends']>();
  const watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, {
    policy: { action: 'capture', hours: HOURS },
    around: (service) => endingAt(ends, service),
  });
  const counted = [];
  for (let first = 0; first < HOLDS; first += HOLDS_AT_ONCE) {
    const holds = await authorize(watched, random, Math.min(HOLDS_AT_ONCE, HOLDS - first));
    for (const { id, fault } of holds) if (fault.ends) ends.set(id, fault.ends);
    await watched.advance(WEEK_MS - HOURS * HOUR_MS + MINUTE_MS);

    await setFaults(holds, random);
    for (let minutes = 0; minutes < CHECKED_MINUTES; minutes += 1) {
      await checkInThreeProcesses(watched);
      await watched.advance(MINUTE_MS);
    }
    await sandbox.control('PUT', '/faults', {});
    for (const hold of holds) counted.push({ ...hold, ...(await countCaptures(hold)) });
    expect(ends.size).toBe(0);
  }
  for (const [name, own] of groupBy(counted, (hold) => hold.name)) {
    recordFigures({
      kind: 'captures',
      fault: name,
      holds: own.length,
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
      captured: own.filter(({ isCaptured }) => isCaptured).length,
      doubled: own.filter(({ isDoubled }) => isDoubled).length,
    });
  }
  expect(counted).toHaveLength(HOLDS);
  expect(counted.filter(({ isDoubled }) => isDoubled)).toEqual([]);
  expect(counted.filter(({ isCaptured }) => !isCaptured)).toEqual([]);
});

async function authorize(
  watched: AuthorizationTestSetup,
  random: Random,
  count: number,
): Promise<readonly Hold[]> {
  const holds: Hold[] = [];
  for (let n = 0; n < count; n += 1) {
    // Each fault in turn, so that a small number of holds has all of them.
    const name = NAMES[n % NAMES.length] ?? 'none';
    const fault: Fault = FAULTS[name];
    const times = fault.isWithoutEffect && random() < 0.5 ? 2 : 1;
    holds.push({ id: await watched.authorize(), name, fault, times });
  }
  return holds;
}

async function setFaults(holds: readonly Hold[], random: Random): Promise<void> {
  const requests = holds.flatMap(({ id, fault, times }) =>
    fault.request ? [{ ...fault.request, times, path: `/payments/${id}/capture` }] : [],
  );
  const lagMs = LAGS_MS[Math.floor(random() * LAGS_MS.length)] ?? 0;
  await sandbox.control('PUT', '/faults', { requests, retrieves: { lag_ms: lagMs } });
}

async function checkInThreeProcesses({ check }: AuthorizationTestSetup): Promise<void> {
  const runs = await Promise.allSettled([check.run(), check.run(), check.run()]);
  for (const run of runs) {
    if (run.status === 'rejected' && !(run.reason instanceof ProcessEnded)) throw run.reason;
  }
}

/** Counted where the service receives requests, and read from the service. */
async function countCaptures({ id, fault, times }: Hold): Promise<{
  readonly requests: number;
  readonly isCaptured: boolean;
  readonly isDoubled: boolean;
}> {
  const path = `/payments/${id}/capture`;
  const requests = proxy.requests.filter(
    (one) => one.method === 'POST' && one.path === path,
  ).length;
  const { body } = await sandbox.call('GET', `/payments/${id}`);
  const withoutEffect = fault.isWithoutEffect ? times : 0;
  return {
    requests,
    isCaptured: body.status === 'succeeded' && body.amount_received === AMOUNT_MINOR,
    isDoubled: requests > withoutEffect + 1 || body.amount_received > AMOUNT_MINOR,
  };
}
