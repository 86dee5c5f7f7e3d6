/**
 * The one path from a call to a response: validate, acquire budget, send, classify, and retry only
 * where domain/retry.ts allows it.
 *
 * 1. A request that the contract would reject is not sent.
 * 2. Every attempt acquires from the budget first and updates it with the response. An update that fails
 *    discards no response.
 * 3. An aborted call sends nothing more. What it already sent may have been processed.
 */
import type { Endpoint } from '../contract/endpoints/index.ts';
import { problemsOf, type RequestProblem } from '../contract/problems.ts';
import { writeQuery } from '../contract/query.ts';
import { toError } from '../platform/errors.ts';
import { type Admission, LANES, type Lane, type RateReading } from './domain/rate.ts';
import { type AttemptFailure, decideRetry, outcomeOf, requiredMs } from './domain/retry.ts';
import { PaymentServiceError } from './errors.ts';
import { errorOf, failureOf } from './failures.ts';
import { createRedactor } from './redact.ts';
import type { ClientSettings } from './settings.ts';
import {
  type AttemptResult,
  type HttpRequest,
  type ServiceResponse,
  sendOnce,
} from './transport.ts';

/** Options of every call. */
export interface CallOptions {
  /** The priority of the call; `operator` by default. */
  readonly lane?: Lane | undefined;
  /** Aborts the call. What was already sent may have been processed: see `outcomeUnknown`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the metadata of the successful response, before its body is parsed. */
  readonly onResponse?: ((response: ResponseMetadata) => void) | undefined;
}

/** The metadata of a response, from its headers. */
export interface ResponseMetadata {
  /** The service's clock, in whole seconds; undefined if the response has no date. */
  readonly serviceTimeMs: number | undefined;
}

/** The input of an endpoint, in the contract's names. */
export interface CallInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** One call. */
export interface Call {
  /** The endpoint's name. */
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly input: CallInput;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  /** The resource is known to exist, so "not found" means "not visible yet". */
  readonly mustExist: boolean;
  readonly totals: CallTotals;
}

/** Time and attempts of a call, over all its requests. */
export interface CallTotals {
  readonly startedAtMs: number;
  /** Requests sent. */
  attempts: number;
}

/** @throws PaymentServiceError for everything but a success. */
export type Send = (call: Call) => Promise<ServiceResponse>;

/** Delay between lanes when a new window starts, so that they acquire in their order of priority. */
const LANE_STEP_MS = 50;

/** Creates `send`. */
export function createSend(settings: ClientSettings): Send {
  const redact = createRedactor(settings.apiKey);
  const { retry, budget, time, random } = settings;

  const attempt = (request: HttpRequest, elapsedMs: number, signal: AbortSignal) =>
    sendOnce(request, {
      apiKey: settings.apiKey,
      timeoutMs: Math.max(1, Math.min(retry.attemptTimeoutMs, retry.totalTimeoutMs - elapsedMs)),
      signal,
      nowMs: time.nowMs,
    });

  /** The next response states what is left again; what this one carries must not be lost. */
  const updateBudget = async (rate: RateReading): Promise<void> => {
    try {
      await budget.update(rate);
    } catch {
      // Invariant 2.
    }
  };

  const admit = createAdmit(settings);

  /** After a failed attempt: waits for the next one, or throws. */
  const recover = async (call: Call, progress: Progress, failed: FailedAttempt): Promise<void> => {
    const { result, failure } = failed;
    progress.everUnknown ||= outcomeOf(failure) === 'unknown';
    throwIfAborted(call, progress);
    const { attempts } = progress;
    const repeatable = isRepeatable(call);
    const elapsedMs = time.nowMs() - call.totals.startedAtMs;
    const { mustExist } = call;
    const decision = decideRetry(
      {
        failure,
        repeatable,
        mustExist,
        attempts,
        elapsedMs,
        requiredMs: requiredMs(isSafe(call), retry),
        random: random(),
      },
      retry,
    );
    if (decision.action === 'stop') {
      const { everUnknown } = progress;
      throw errorOf(
        { ...call, attempts: call.totals.attempts, everUnknown, result, failure, repeatable },
        (text) => redact(text, call.input.body),
      );
    }
    await time.sleep(decision.delayMs, call.signal);
  };

  return async (call) => {
    const request = buildRequest(settings.baseUrl, call);
    const progress: Progress = { attempts: 0, everUnknown: false };
    for (;;) {
      await admit(call, progress);
      progress.attempts += 1;
      call.totals.attempts += 1;
      const elapsedMs = time.nowMs() - call.totals.startedAtMs;
      const result = await attempt(request, elapsedMs, call.signal);
      if (result.kind === 'response') await updateBudget(result.rate);
      const failure = failureOf(result, call.endpoint, time.nowMs());
      if (failure !== undefined) await recover(call, progress, { result, failure });
      else if (result.kind === 'response') return result;
    }
  };
}

/** Waits for the budget (invariant 2). */
type Admit = (call: Call, progress: Progress) => Promise<void>;

function createAdmit({ retry, budget, time, random }: ClientSettings): Admit {
  const requiredMsFor = (call: Call) => requiredMs(isSafe(call), retry);

  const acquire = async (call: Call, progress: Progress): Promise<Admission> => {
    try {
      return await budget.acquire(call.lane);
    } catch (error) {
      const message = `the rate budget cannot be used (${toError(error).message})`;
      throw notAdmitted('unavailable', { call, progress, message, cause: error });
    }
  };

  /** Whether a request could get its whole response (rule 7 of domain/retry.ts). */
  const isInTime = (call: Call): boolean => {
    if (isSafe(call)) return true;
    const elapsedMs = time.nowMs() - call.totals.startedAtMs;
    return elapsedMs + requiredMsFor(call) <= retry.totalTimeoutMs;
  };

  return async (call, progress) => {
    const { lane, signal } = call;
    for (;;) {
      throwIfAborted(call, progress);
      const admission = await acquire(call, progress);
      if (admission.admitted) {
        if (isInTime(call)) return;
        const message = 'not sent, because too little time is left for its response';
        throw notAdmitted('unavailable', { call, progress, message });
      }
      const waitMs = admission.waitMs + (LANES.indexOf(lane) + random()) * LANE_STEP_MS;
      const elapsedMs = time.nowMs() - call.totals.startedAtMs;
      if (elapsedMs + waitMs + requiredMsFor(call) > retry.totalTimeoutMs) {
        const message = 'the rate limit resets after the time limit of the call';
        throw notAdmitted('rate_limited', { call, progress, message });
      }
      await time.sleep(waitMs, signal);
    }
  };
}

interface FailedAttempt {
  readonly result: AttemptResult;
  readonly failure: AttemptFailure;
}

/** The state of one request. */
interface Progress {
  attempts: number;
  /** An attempt ended with an unknown outcome. */
  everUnknown: boolean;
}

/** Whether the request changes nothing. */
function isSafe({ endpoint }: Call): boolean {
  return endpoint.repetition.kind === 'safe';
}

/** Whether the contract makes it safe to send this request twice. */
function isRepeatable({ endpoint, input }: Call): boolean {
  const { repetition } = endpoint;
  if (repetition.kind !== 'keyed') return repetition.kind === 'safe';
  return (input.body as Record<string, unknown> | undefined)?.[repetition.key] !== undefined;
}

/** @throws PaymentServiceError of kind `invalid_request` (invariant 1). */
function buildRequest(baseUrl: string, { operation, endpoint, input }: Call): HttpRequest {
  const params = input.params ?? {};
  const body = endpoint.body === undefined ? undefined : (input.body ?? {});
  const problems: readonly RequestProblem[] = [
    ...problemsOf(endpoint.params, params),
    ...(endpoint.query ? problemsOf(endpoint.query, input.query ?? {}) : []),
    ...(endpoint.body ? problemsOf(endpoint.body, body) : []),
  ];
  if (problems.length > 0) {
    const message = problems.map((problem) => problem.message).join('; ');
    throw new PaymentServiceError('invalid_request', { operation, message, problems });
  }
  const path = endpoint.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const query = endpoint.query ? writeQuery(input.query ?? {}) : '';
  return {
    method: endpoint.method,
    url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    body: endpoint.encoding === 'multipart' ? toFormData(body) : body && JSON.stringify(body),
  };
}

/** @param body valid for an endpoint that takes a form: texts and files by name */
function toFormData(body: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body as Record<string, string | Blob>)) {
    form.append(name, value);
  }
  return form;
}

/** @throws PaymentServiceError of kind `aborted` (invariant 3). */
function throwIfAborted(call: Call, { everUnknown }: Progress): void {
  const { operation, endpoint, signal, totals } = call;
  if (!signal.aborted) return;
  const outcomeUnknown = everUnknown && endpoint.repetition.kind !== 'safe';
  throw new PaymentServiceError('aborted', {
    operation,
    message: outcomeUnknown ? 'aborted after the request was sent' : 'aborted',
    attempts: totals.attempts,
    outcomeUnknown,
    cause: signal.reason,
  });
}

interface NotAdmitted {
  readonly call: Call;
  readonly progress: Progress;
  readonly message: string;
  readonly cause?: unknown;
}

/** The error of a call that sends no further request. */
function notAdmitted(
  kind: 'rate_limited' | 'unavailable',
  { call, progress, message, cause }: NotAdmitted,
): PaymentServiceError {
  return new PaymentServiceError(kind, {
    operation: call.operation,
    message,
    attempts: call.totals.attempts,
    outcomeUnknown: progress.everUnknown && !isSafe(call),
    retryable: isRepeatable(call) || !progress.everUnknown,
    cause,
  });
}
