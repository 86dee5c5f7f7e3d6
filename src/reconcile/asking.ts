/**
 * Asking the service within a run: every request counted, a used-up budget waited out, and trouble
 * that concerns every request told apart from what concerns one.
 */
import { type Lane, PaymentServiceError } from '../client/index.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { isGeneral, troubleOf } from './domain/trouble.ts';
import type { Ask } from './readList.ts';
import type { Retrieve, Retrieved } from './retrieve.ts';
import { ServiceTrouble } from './serviceTrouble.ts';

export interface Asking {
  /** @throws ServiceTrouble, whose cause is what the client threw */
  readonly ask: Ask;
  /**
   * For what is only a hint: a request that fails is given up, whatever it fails by.
   * @throws PaymentServiceError
   */
  readonly askOnce: Ask;
  readonly retrieve: (ref: ResourceRef) => Promise<Retrieved>;
  readonly requests: () => number;
}

export interface AskingParts {
  readonly retrieve: Retrieve;
  readonly lane: Lane;
  readonly isDryRun: boolean;
  /** As in applySnapshots: set while a list is imported for the first time. */
  readonly historyUntilMs: number | undefined;
  readonly signal: AbortSignal;
  readonly pause: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Spent before, by the part of the run that did not live to go on. */
  readonly spent: number;
}

/** The client waited for the budget already, as long as a call may take. */
const BUSY_PAUSE_MS = 5_000;

export function createAsking(parts: AskingParts): Asking {
  const { lane, signal, isDryRun, historyUntilMs } = parts;
  let requests = parts.spent;

  /** Tries until the budget is no longer what stands in the way. */
  const patiently = async <T>(attempt: () => Promise<T | typeof BUSY>): Promise<T> => {
    for (;;) {
      signal.throwIfAborted();
      requests += 1;
      const result = await attempt();
      if (result !== BUSY) return result;
      await parts.pause(BUSY_PAUSE_MS, signal);
    }
  };
  return {
    ask: (call) => patiently(() => call({ lane, signal }).catch(judge)),
    askOnce: async (call) => {
      signal.throwIfAborted();
      requests += 1;
      return await call({ lane, signal });
    },
    retrieve: (ref) =>
      patiently(async () => {
        const retrieved = await parts.retrieve(ref, { lane, isDryRun, historyUntilMs, signal });
        if (retrieved.outcome !== 'failed') return retrieved;
        if (retrieved.trouble === 'busy') return BUSY;
        if (isGeneral(retrieved.trouble)) throw new ServiceTrouble(retrieved.reason);
        return retrieved;
      }),
    requests: () => requests,
  };
}

const BUSY = Symbol('busy');

/**
 * What a failed request for a list means: a list that is not found, or no JSON, is somebody else's,
 * and one that is refused will be refused again.
 */
function judge(error: unknown): typeof BUSY {
  if (!(error instanceof PaymentServiceError) || error.kind === 'aborted') throw error;
  if (troubleOf(error) === 'busy') return BUSY;
  throw new ServiceTrouble(error.message, { cause: error });
}
