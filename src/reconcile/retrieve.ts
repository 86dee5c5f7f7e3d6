/**
 * Retrieves one resource and applies what the service says: the only way in which reconciliation
 * changes the ledger.
 *
 * 1. What the service says goes through applySnapshots like any webhook; nothing is set, invented or
 *    given up here.
 * 2. The observation is dated by the answer's own `Date`: our clock may be off, and epochs compare it with
 *    the service's versions.
 * 3. When the next observation is due is written in the same transaction, so that an observation never repeats
 *    itself at once and is never lost.
 * 4. "Not found" changes no state. A resource that was only ever mentioned and stays unknown to the
 *    service for a day is an `orphan`; one that was seen and is gone is `missing_remote`.
 * 5. The time at which a request was sent is recorded with its response: an excess of an order is
 *    confirmed only by requests that were sent after it showed (alerts/domain/rules/excesses.ts).
 * 6. Trouble with the service leaves everything as it is, the time of the next observation included.
 */

import { SETTLING_MS } from '../alerts/domain/rules/excesses.ts';
import {
  type Lane,
  type PaymentServiceClient,
  PaymentServiceError,
  type ResponseMetadata,
} from '../client/index.ts';
import { applySnapshots } from '../ledger/applySnapshots.ts';
import { contentHash } from '../ledger/contentHash.ts';
import { resourceSubject } from '../ledger/domain/findings.ts';
import type { Observation } from '../ledger/domain/mergeObservations.ts';
import { type ResourceRef, readResource } from '../ledger/domain/snapshot.ts';
import { retryWithMoreLocks } from '../ledger/lockSetChanged.ts';
import { openFindings } from '../ledger/recordFindings.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { DAY_MS, HOUR_MS } from '../platform/time.ts';
import { nextCheckMs, staysDoubtful } from './domain/checkTimes.ts';
import { type Trouble, troubleOf } from './domain/trouble.ts';
import { fetchResource } from './fetchResource.ts';
import { type CheckedRow, noteFinding, readChecked, writeAnswered } from './store/checks.ts';

/** The service answered, and what it said is in the ledger. */
export interface Applied {
  readonly outcome: 'applied';
  /** What the ledger held before and holds now; `before` is undefined for one it did not have. */
  readonly before: CheckedRow | undefined;
  readonly after: CheckedRow;
  /** The service's time of the response, microseconds since 1970. */
  readonly observedMicros: number;
  /** The service's own words, for links to other resources. */
  readonly body: object;
}

/** What became of a look at one resource. */
export type Retrieved =
  | Applied
  /** The service does not know it. */
  | { readonly outcome: 'missing'; readonly before: CheckedRow | undefined }
  /** Nothing was learned about the resource. */
  | { readonly outcome: 'failed'; readonly trouble: Trouble; readonly reason: string };

export interface RetrieveOptions {
  readonly lane: Lane;
  /** Says what would become of it and changes nothing. */
  readonly isDryRun?: boolean;
  /** As in applySnapshots: set while a list is imported for the first time. */
  readonly historyUntilMs?: number | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Retrieves one resource and applies the answer.
 * @throws what the database throws, and PaymentServiceError of kind `aborted`
 */
export type Retrieve = (ref: ResourceRef, options: RetrieveOptions) => Promise<Retrieved>;

export interface RetrieveParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly clock: Clock;
}

/** A resource that is only mentioned may take this long to become visible. */
const ORPHAN_AFTER_MS = DAY_MS;
/** A replica may lag behind what a webhook already told. */
const GONE_AFTER_MS = HOUR_MS;

/** Makes the one `retrieve`. */
export function createRetrieve({ db, client, clock }: RetrieveParts): Retrieve {
  const observe = createObserve({ db, clock });
  return async (ref, { lane, isDryRun = false, historyUntilMs, signal }) => {
    let serviceTimeMs: number | undefined;
    const onResponse = (answer: ResponseMetadata): void => {
      ({ serviceTimeMs } = answer);
    };
    const options = { lane, onResponse, ...(signal && { signal }) };
    const secondsSinceAsked = startStopwatch();
    let body: object;
    try {
      body = await fetchResource(client, ref, options);
    } catch (error) {
      if (!(error instanceof PaymentServiceError) || error.kind === 'aborted') throw error;
      const trouble = troubleOf(error);
      if (trouble !== 'missing') return { outcome: 'failed', trouble, reason: error.message };
      return await unlessDry(db, isDryRun, (tx) =>
        noteMissing(tx, ref, { nowMs: clock.nowMs(), secondsSinceAsked }),
      );
    }
    return await observe(ref, body, { serviceTimeMs, secondsSinceAsked, isDryRun, historyUntilMs });
  };
}

/** How an answer of the service came about. */
export interface ObserveOptions {
  /** The service's time of day with the answer; undefined where it named none. */
  readonly serviceTimeMs: number | undefined;
  /** Since the request was sent. */
  readonly secondsSinceAsked: () => number;
  readonly isDryRun?: boolean;
  readonly historyUntilMs?: number | undefined;
}

/** Applies what the service has just answered about a resource, whatever it was asked. */
export type Observe = (
  ref: ResourceRef,
  body: object,
  options: ObserveOptions,
) => Promise<Exclude<Retrieved, { readonly outcome: 'missing' }>>;

export function createObserve({ db, clock }: Omit<RetrieveParts, 'client'>): Observe {
  return async (ref, body, { serviceTimeMs, isDryRun = false, ...options }) => {
    const nowMs = clock.nowMs();
    const observation = toObservation(ref, body, (serviceTimeMs ?? nowMs) * 1000);
    if (typeof observation === 'string') {
      return { outcome: 'failed', trouble: 'unreadable', reason: observation };
    }
    const input = { historyUntilMs: undefined, ...options, observation, body, nowMs };
    return await retryWithMoreLocks((alsoLock) =>
      unlessDry(db, isDryRun, (tx) => apply(tx, { ...input, alsoLock })),
    );
  };
}

/** @returns what is wrong with the body where it makes no observation */
function toObservation(
  ref: ResourceRef,
  body: object,
  observedMicros: number,
): Observation | string {
  const reading = readResource(body, observedMicros);
  if (reading.outcome === 'unreadable') return `its ${reading.field} cannot be read`;
  if (reading.outcome === 'unknown_resource') return 'the answer names no resource';
  if (reading.ref.kind !== ref.kind || reading.ref.id !== ref.id) {
    return `the answer is about ${reading.ref.kind} ${reading.ref.id}`;
  }
  const { content } = reading;
  return {
    ref,
    content,
    contentHash: contentHash(content),
    source: 'retrieve',
    observedMicros,
    webhookEventId: undefined,
  };
}

interface Answered {
  readonly nowMs: number;
  readonly secondsSinceAsked: () => number;
}

interface ApplyInput extends Answered {
  readonly observation: Observation;
  readonly body: object;
  readonly alsoLock: readonly string[];
  readonly historyUntilMs: number | undefined;
}

async function apply(tx: Queryable, input: ApplyInput): Promise<Applied> {
  const { observation, body, alsoLock, nowMs, historyUntilMs } = input;
  const before = await readChecked(tx, observation.ref);
  await applySnapshots(tx, {
    observations: [observation],
    toRetrieve: [],
    alsoLock,
    nowMs,
    historyUntilMs,
  });
  const after = await readChecked(tx, observation.ref);
  if (!after)
    throw new Error(`${observation.ref.kind} ${observation.ref.id} was applied and is not stored`);
  const status = { ledger: after.status, retrieved: observation.content.status };
  const isDoubtful = staysDoubtful(after.doubts, status);
  await advance(tx, { ...after, isDoubtful }, input);
  return { outcome: 'applied', before, after, observedMicros: observation.observedMicros, body };
}

async function advance(
  tx: Queryable,
  row: CheckedRow,
  { nowMs, secondsSinceAsked }: Answered,
): Promise<void> {
  const changedMs =
    row.versionMicros === null ? row.firstSeenAt.getTime() : row.versionMicros / 1000;
  const askedMsAgo = secondsSinceAsked() * 1000;
  const isAwaitingConfirmation =
    row.excessForMs !== null && row.excessForMs - askedMsAgo < SETTLING_MS;
  const atMs = nextCheckMs({ ...row, isAwaitingConfirmation, changedMs }, nowMs);
  const nextCheckAt = atMs === undefined ? null : new Date(atMs);
  await writeAnswered(tx, row, { nextCheckAt, askedMsAgo });
}

async function noteMissing(
  tx: Queryable,
  ref: ResourceRef,
  answered: Answered,
): Promise<Retrieved> {
  const before = await readChecked(tx, ref);
  if (before) {
    const wasSeen = before.status !== null;
    const knownMs = answered.nowMs - before.firstSeenAt.getTime();
    if (knownMs >= (wasSeen ? GONE_AFTER_MS : ORPHAN_AFTER_MS)) {
      const detail = { since: before.firstSeenAt.toISOString() };
      const name = wasSeen ? 'missing_remote' : 'orphan';
      await noteFinding(tx, ref, name);
      await openFindings(tx, [{ class: name, subject: resourceSubject(ref), detail }]);
    }
    // A seen one that is gone is looked at by its age, too: it is not final that it is gone.
    const stub = { ...before, status: null, isContradicted: false, versionMicros: null };
    await advance(tx, stub, answered);
  }
  return { outcome: 'missing', before };
}

/** Carries a dry run's result out of the transaction that it must not commit. */
class DryRun<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('dry run');
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction, which a dry run rolls back: what it says was then decided by the very
 * code that would have done it.
 */
async function unlessDry<T>(
  db: Database,
  isDryRun: boolean,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  if (!isDryRun) return await db.transaction(work);
  try {
    return await db.transaction(async (tx): Promise<never> => {
      throw new DryRun(await work(tx));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result as T;
    throw error;
  }
}
