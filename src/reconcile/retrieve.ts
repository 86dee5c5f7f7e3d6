/**
 * Retrieves one resource and applies the response: the only way in which reconciliation changes the
 * ledger, apart from list rows after an outage (repairWindow.ts).
 *
 * 1. The response goes through applySnapshots like any webhook; no state is set or guessed here.
 * 2. The observation has the time of the response's own `Date`: the local clock may be off, and the merge
 *    compares it with the service's versions.
 * 3. The time of the next check is written in the same transaction, so that a check is neither repeated
 *    at once nor lost.
 * 4. "Not found" changes no state. A resource that was only ever mentioned and stays unknown to the
 *    service for a day is an `orphan`; one that was observed and is missing remotely is
 *    `missing_remote`.
 * 5. The time at which a request was sent is recorded with its response: an excess of an order is
 *    confirmed only by requests that were sent after it showed (alerts/domain/rules/excesses.ts).
 * 6. A response that names another merchant account is not applied, nor one with which the money of its order cannot
 *    be added up.
 * 7. A response that is older than an event that was not applied does not end its check, and neither does one that shows
 *    something else than the ledger with an older version: the check is repeated (domain/behind.ts).
 * 8. A failure of the service leaves everything as it is, the time of the next check included.
 */

import { SETTLING_MS } from '../alerts/domain/rules/excesses.ts';
import type { Lane, PaymentServiceClient, ResponseMetadata } from '../client/index.ts';
import { applySnapshots } from '../ledger/applySnapshots.ts';
import { contentHash } from '../ledger/contentHash.ts';
import { type Account, foreignMerchantOf, profileOf } from '../ledger/domain/account.ts';
import { type History, historyOf } from '../ledger/domain/importedHistory.ts';
import {
  type Observation,
  type ResourceRef,
  readResource,
  refKey,
} from '../ledger/domain/snapshot.ts';
import { readBeginningMs } from '../ledger/installation.ts';
import { retryWithMoreLocks } from '../ledger/lockSetChanged.ts';
import { openFindings } from '../ledger/recordFindings.ts';
import { recordProfiles } from '../ledger/recordProfiles.ts';
import { type CheckedRow, linkFinding, readChecked, writeChecked } from '../ledger/store/checks.ts';
import { type Clock, startStopwatch } from '../platform/clock.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../platform/time.ts';
import { countsInMs, staysBehind } from './domain/behind.ts';
import {
  lastChangedMs,
  nextCheckByAgeMs,
  nextCheckMs,
  staysUncertain,
} from './domain/checkTimes.ts';
import { type Failure, failureOf } from './domain/failures.ts';
import { fetchResource } from './fetchResource.ts';
import { isInexact } from './inexactMoney.ts';
import { serviceErrorOf } from './serviceErrorOf.ts';

/** The service responded, and the response is in the ledger. */
export interface Applied {
  readonly outcome: 'applied';
  /** The ledger before and after; `before` is undefined for a resource that is new to it. */
  readonly before: CheckedRow | undefined;
  readonly after: CheckedRow;
  /** The service's time of the response, microseconds since 1970. */
  readonly observedMicros: number;
  /** The response as the service sent it, for links to other resources. */
  readonly body: object;
}

/** What became of a retrieve. */
export type Retrieved =
  | Applied
  /** The service does not have it. */
  | { readonly outcome: 'missing'; readonly before: CheckedRow | undefined }
  /** Nothing was learned about the resource. */
  | {
      readonly outcome: 'failed';
      readonly failure: Failure;
      readonly reason: string;
      /** The other merchant account that the response names (rule 6); null if that is no id. */
      readonly foreignMerchantId?: string | null;
    };

export interface RetrieveOptions {
  readonly lane: Lane;
  /** Returns what would become of it and changes nothing. */
  readonly isDryRun?: boolean;
  /** As in applySnapshots; undefined where no run retrieves it (historyOfNoRun). */
  readonly history?: History | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Retrieves one resource and applies the response.
 * @throws what the database throws, and PaymentServiceError of kind `aborted`
 */
export type Retrieve = (ref: ResourceRef, options: RetrieveOptions) => Promise<Retrieved>;

export interface RetrieveParts {
  readonly db: Database;
  readonly client: PaymentServiceClient;
  readonly clock: Clock;
  readonly account: Account;
}

/** A resource that is only mentioned may take this long to become visible. */
const ORPHAN_AFTER_MS = DAY_MS;
/** A replica may lag behind a webhook. */
const MISSING_AFTER_MS = HOUR_MS;
/** The `Date` of a response has whole seconds. */
const DATE_MS = SECOND_MS;

/** Makes the one `retrieve`. */
export function createRetrieve(parts: RetrieveParts): Retrieve {
  const { db, client, clock } = parts;
  const observe = createObserve(parts);
  return async (ref, { lane, isDryRun = false, history, signal }) => {
    const { onResponse, circumstances } = noteResponse();
    const options = { lane, onResponse, ...(signal && { signal }) };
    let body: object;
    try {
      body = await fetchResource(client, ref, options);
    } catch (error) {
      const failed = serviceErrorOf(error);
      const failure = failureOf(failed);
      if (failure !== 'missing') return { outcome: 'failed', failure, reason: failed.message };
      const { secondsSinceSent } = circumstances();
      return await unlessDry(db, isDryRun, (tx) =>
        recordMissing(tx, ref, { nowMs: clock.nowMs(), secondsSinceSent }),
      );
    }
    return await observe(ref, body, { ...circumstances(), isDryRun, history });
  };
}

/** The circumstances of a response. */
export interface ObserveOptions {
  /** The `Date` of the response; undefined where it had none. */
  readonly serviceTimeMs: number | undefined;
  /** Since the request was sent. */
  readonly secondsSinceSent: () => number;
  readonly isDryRun?: boolean;
  readonly history?: History | undefined;
}

/** Notes the circumstances of the response to a request that is sent now. */
export function noteResponse() {
  const secondsSinceSent = startStopwatch();
  let serviceTimeMs: number | undefined;
  return {
    onResponse: (metadata: ResponseMetadata): void => {
      ({ serviceTimeMs } = metadata);
    },
    circumstances: () => ({ serviceTimeMs, secondsSinceSent }),
  };
}

/** Applies a response about a resource, to any request. */
export type Observe = (
  ref: ResourceRef,
  body: object,
  options: ObserveOptions,
) => Promise<Exclude<Retrieved, { readonly outcome: 'missing' }>>;

export function createObserve({ db, clock, account }: Omit<RetrieveParts, 'client'>): Observe {
  return async (ref, body, { serviceTimeMs, isDryRun = false, ...options }) => {
    const nowMs = clock.nowMs();
    const foreignMerchantId = foreignMerchantOf(body, account);
    if (foreignMerchantId !== undefined) return failedForeign(foreignMerchantId);
    const observation = toObservation(ref, body, (serviceTimeMs ?? nowMs) * 1000);
    if (typeof observation === 'string') {
      return { outcome: 'failed', failure: 'unreadable', reason: observation };
    }
    const input = { history: undefined, ...options, observation, body, nowMs, account };
    try {
      return await retryWithMoreLocks((alsoLock) =>
        unlessDry(db, isDryRun, (tx) => apply(tx, { ...input, alsoLock })),
      );
    } catch (error) {
      if (!isInexact(error)) throw error;
      return { outcome: 'failed', failure: 'unreadable', reason: error.message };
    }
  };
}

function failedForeign(foreignMerchantId: string | null) {
  const named = foreignMerchantId === null ? '' : `, ${foreignMerchantId}`;
  const reason = `the response names another merchant account${named}`;
  return { outcome: 'failed', failure: 'unreadable', reason, foreignMerchantId } as const;
}

/** @returns what is wrong with a body that is no observation of the resource */
function toObservation(
  ref: ResourceRef,
  body: object,
  observedMicros: number,
): Observation | string {
  const reading = readResource(body, observedMicros);
  if (reading.outcome === 'unreadable') return `its ${reading.field} cannot be read`;
  if (reading.outcome === 'unknown_resource') return 'the response names no resource';
  if (reading.ref.kind !== ref.kind || reading.ref.id !== ref.id) {
    return `the response is about ${reading.ref.kind} ${reading.ref.id}`;
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

interface Response {
  readonly nowMs: number;
  readonly secondsSinceSent: () => number;
}

interface Shown {
  /** The version that the response carries. */
  readonly versionMicros: number | undefined;
  /** In how many milliseconds the response counts, if it shows something else; undefined for now. */
  readonly countsInMs: number | undefined;
}

interface ApplyInput extends Response {
  readonly observation: Observation;
  readonly body: object;
  readonly alsoLock: readonly string[];
  readonly account: Account;
  readonly history: History | undefined;
}

async function apply(tx: Queryable, input: ApplyInput): Promise<Applied> {
  const { observation, body, alsoLock, nowMs } = input;
  const before = await readChecked(tx, observation.ref);
  const history = await historyOfUnknown(tx, before, input);
  await applySnapshots(tx, {
    observations: [observation],
    toRetrieve: [],
    alsoLock,
    nowMs,
    history,
  });
  const profileId = profileOf(body);
  await recordProfiles(tx, [{ ...observation, profileId }], input.account);
  const after = await readChecked(tx, observation.ref);
  if (!after) {
    const { kind, id } = observation.ref;
    throw new Error(`${kind} ${id} was applied and is not stored`);
  }
  const isUncertain = staysUncertain(after.uncertainties, {
    ledgerStatus: after.status,
    retrievedStatus: observation.content.status,
    ageMs: nowMs - lastChangedMs(after),
  });
  const { versionMicros } = observation.content;
  const shown = { versionMicros, countsInMs: countsInMs(observation, after) };
  await scheduleNextCheck(tx, { ...after, isUncertain }, { ...input, ...shown });
  return { outcome: 'applied', before, after, observedMicros: observation.observedMicros, body };
}

/**
 * What is history to a retrieve of a resource without a known state: one of before the installation that a run or
 * somebody looks up, or that an imported refund or dispute mentions.
 */
async function historyOfUnknown(
  tx: Queryable,
  before: CheckedRow | undefined,
  { observation, nowMs, history: ofRun }: ApplyInput,
): Promise<History | undefined> {
  if (before && before.status !== null) return undefined;
  return ofRun ?? (await historyOfNoRun(tx, { observation, nowMs }));
}

async function historyOfNoRun(
  tx: Queryable,
  { observation, nowMs }: Pick<ApplyInput, 'observation' | 'nowMs'>,
): Promise<History> {
  const installedMs = await readBeginningMs(tx, nowMs);
  const skewMs = observation.observedMicros / 1000 - nowMs;
  return historyOf({ installedMs, isImported: true, nowMs, skewMs });
}

async function scheduleNextCheck(
  tx: Queryable,
  row: CheckedRow,
  { nowMs, secondsSinceSent, versionMicros, countsInMs: countsMs }: Response & Shown,
): Promise<void> {
  const changedMs = lastChangedMs(row);
  const sentMsAgo = secondsSinceSent() * 1000;
  const isAwaitingConfirmation =
    row.excessForMs !== null && row.excessForMs - sentMsAgo < SETTLING_MS;
  const isBehind = staysBehind(row, { sentMsAgo, versionMicros });
  const ownMs = nextCheckMs({ ...row, isAwaitingConfirmation, changedMs }, nowMs);
  const repeatedMs = isBehind ? nextCheckByAgeMs(nowMs - (row.behindForMs ?? 0), nowMs) : undefined;
  const countedMs = countsMs === undefined ? Infinity : nowMs + countsMs + DATE_MS;
  const scheduledMs = Math.min(ownMs ?? Infinity, repeatedMs ?? Infinity);
  const atMs = Math.min(scheduledMs, countedMs);
  const nextCheckAt = atMs === Infinity ? null : new Date(atMs);
  // Unless it is wanted, the check of what is final is dropped (refresh.ts, rule 2).
  const isWanted = isBehind || countedMs < scheduledMs || row.status === null;
  await writeChecked(tx, row, { nextCheckAt, isWanted, sentMsAgo });
}

async function recordMissing(
  tx: Queryable,
  ref: ResourceRef,
  response: Response,
): Promise<Retrieved> {
  const before = await readChecked(tx, ref);
  if (before) {
    const wasObserved = before.status !== null;
    const knownMs = response.nowMs - before.firstSeenAt.getTime();
    if (knownMs >= (wasObserved ? MISSING_AFTER_MS : ORPHAN_AFTER_MS)) {
      const detail = { since: before.firstSeenAt.toISOString() };
      const name = wasObserved ? 'missing_remote' : 'orphan';
      await linkFinding(tx, ref, name);
      await openFindings(tx, [{ class: name, subject: refKey(ref), detail }]);
    }
    // A resource that is missing remotely is checked by its age, too, although its status is final: it may come back.
    const stub = { ...before, status: null, isContradicted: false, versionMicros: null };
    const shown = { versionMicros: undefined, countsInMs: undefined };
    await scheduleNextCheck(tx, stub, { ...response, ...shown });
  }
  return { outcome: 'missing', before };
}

/** Carries the result of a dry run out of the transaction that must not commit. */
class DryRun<T> extends Error {
  readonly result: T;
  constructor(result: T) {
    super('dry run');
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction, which a dry run rolls back: its result comes from the same code that
 * would have made the change.
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
