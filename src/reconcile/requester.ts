/**
 * Sends the requests of a run: counts each, waits while the rate budget is used up, and turns failures
 * that concern every request into ServiceUnusable.
 */
import type { Lane } from '../client/index.ts';
import type { History } from '../ledger/domain/importedHistory.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { SECOND_MS } from '../platform/time.ts';
import { affectsEveryRequest, failureOf } from './domain/failures.ts';
import { ServiceUnusable } from './interruptions.ts';
import type { SendRequest } from './listReader.ts';
import type { Retrieve, Retrieved } from './retrieve.ts';
import { serviceErrorOf } from './serviceErrorOf.ts';

export interface Requester {
  /** @throws ServiceUnusable, with the client's error as its cause */
  readonly request: SendRequest;
  /**
   * For a response that is only a hint: one attempt, without a retry after any failure.
   * @throws PaymentServiceError
   */
  readonly requestOnce: SendRequest;
  /** @throws ServiceUnusable */
  readonly retrieve: (ref: ResourceRef) => Promise<Retrieved>;
  /** Requests of the whole run, those before it was resumed included. */
  readonly requestCount: () => number;
}

export interface RequesterParts {
  readonly retrieve: Retrieve;
  readonly lane: Lane;
  readonly isDryRun: boolean;
  /** As in applySnapshots. */
  readonly history: History | undefined;
  readonly signal: AbortSignal;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Requests of the run before it was resumed. */
  readonly requestsBefore: number;
  /** Awaited before each request. @throws RunStopped, RunTakenOver */
  readonly throwIfLost: () => Promise<void>;
  /** Called each time that the run waits because the rate budget is used up. */
  readonly onRateLimited?: (() => void) | undefined;
}

/** The client has waited for the budget already, for as long as a call may take. */
const RATE_LIMITED_WAIT_MS = 5 * SECOND_MS;

export function createRequester(parts: RequesterParts): Requester {
  const { lane, signal, isDryRun, history } = parts;
  let requests = parts.requestsBefore;

  /** Repeats an attempt while the rate budget is used up. */
  const whileRateLimited = async <T>(
    attempt: () => Promise<T | typeof RATE_LIMITED>,
  ): Promise<T> => {
    for (;;) {
      signal.throwIfAborted();
      await parts.throwIfLost();
      requests += 1;
      const result = await attempt();
      if (result !== RATE_LIMITED) return result;
      parts.onRateLimited?.();
      await parts.sleep(RATE_LIMITED_WAIT_MS, signal);
    }
  };
  return {
    request: (call) => whileRateLimited(() => call({ lane, signal }).catch(classify)),
    requestOnce: async (call) => {
      signal.throwIfAborted();
      await parts.throwIfLost();
      requests += 1;
      return await call({ lane, signal });
    },
    retrieve: (ref) =>
      whileRateLimited(async () => {
        const retrieved = await parts.retrieve(ref, { lane, isDryRun, history, signal });
        if (retrieved.outcome !== 'failed') return retrieved;
        if (retrieved.failure === 'rate_limited') return RATE_LIMITED;
        if (affectsEveryRequest(retrieved.failure)) throw new ServiceUnusable(retrieved.reason);
        return retrieved;
      }),
    requestCount: () => requests,
  };
}

const RATE_LIMITED = Symbol('rate_limited');

/**
 * What a failed list request means. Except for a used-up budget, repeating it does not help: a list
 * that is not found, or that is not JSON, comes from another server, and a refused request is refused
 * again.
 */
function classify(error: unknown): typeof RATE_LIMITED {
  const failed = serviceErrorOf(error);
  if (failureOf(failed) === 'rate_limited') return RATE_LIMITED;
  throw new ServiceUnusable(failed.message, { cause: failed });
}
