/**
 * The one way from a call to an answer: checked, admitted, sent, judged, and repeated only where
 * domain/retry.ts says so.
 *
 * 1. Nothing is sent that the contract would refuse.
 * 2. Every attempt takes from the budget first and tells it what the answer said.
 * 3. An aborted call sends nothing more; what it already sent may have been carried out.
 */
import type { Endpoint } from '../contract/endpoints/index.ts';
import { problemsOf, type RequestProblem } from '../contract/problems.ts';
import { writeQuery } from '../contract/query.ts';
import { LANES, type Lane } from './domain/rate.ts';
import { type AttemptFailure, decideRetry, meaningOf, neededMs } from './domain/retry.ts';
import { PaymentServiceError } from './errors.ts';
import { errorOf, failureOf } from './failures.ts';
import { createRedactor } from './redact.ts';
import type { ClientSettings } from './settings.ts';
import { type Answer, type AttemptResult, type HttpRequest, sendOnce } from './transport.ts';

/** Options of every call. */
export interface CallOptions {
  /** Who asks; `operator` when it is left out. */
  readonly lane?: Lane;
  /** Ends the call. What was already sent may have been carried out: see `outcomeUnknown`. */
  readonly signal?: AbortSignal;
  /** Told about the answer that the call succeeds with, before its content is read. */
  readonly onResponse?: (answer: ResponseMetadata) => void;
}

/** What an answer says beside its content. */
export interface ResponseMetadata {
  /** The service's time of day, in whole seconds; undefined where it names none. */
  readonly serviceTimeMs: number | undefined;
}

/** What is sent, in the contract's words. */
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
  /** Something said that the resource exists: "not found" means "not visible yet". */
  readonly mustExist: boolean;
  readonly spent: Spent;
}

/** What a call of the shop has spent, over all the requests that it takes. */
export interface Spent {
  readonly startedAtMs: number;
  /** Requests sent. */
  attempts: number;
}

/** @throws PaymentServiceError for everything that is not a success. */
export type Send = (call: Call) => Promise<Answer>;

/** Between the lanes when a new window begins, so that they ask in their order. */
const LANE_STEP_MS = 50;

/** Makes the one `send`. */
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

  const needOf = ({ endpoint }: Call) => neededMs(endpoint.repetition.kind === 'safe', retry);

  /** Waits for the budget (invariant 2). */
  const admit = async (call: Call, progress: Progress): Promise<void> => {
    const { lane, signal } = call;
    for (;;) {
      throwIfAborted(call, progress);
      const admission = await budget.acquire(lane);
      if (admission.admitted) return;
      const waitMs = admission.waitMs + (LANES.indexOf(lane) + random()) * LANE_STEP_MS;
      const elapsedMs = time.nowMs() - call.spent.startedAtMs;
      if (elapsedMs + waitMs + needOf(call) > retry.totalTimeoutMs) {
        throw outOfBudget(call, progress);
      }
      await time.sleep(waitMs, signal);
    }
  };

  /** After a failed attempt: waits for the next, or throws. */
  const recover = async (call: Call, progress: Progress, failed: FailedAttempt): Promise<void> => {
    const { result, failure } = failed;
    progress.everUnknown ||= meaningOf(failure) === 'unknown';
    throwIfAborted(call, progress);
    const { attempts } = progress;
    const repeatable = isRepeatable(call);
    const elapsedMs = time.nowMs() - call.spent.startedAtMs;
    const { mustExist } = call;
    const decision = decideRetry(
      {
        failure,
        repeatable,
        mustExist,
        attempts,
        elapsedMs,
        neededMs: needOf(call),
        random: random(),
      },
      retry,
    );
    if (decision.action === 'stop') {
      const { everUnknown } = progress;
      throw errorOf(
        { ...call, attempts: call.spent.attempts, everUnknown, result, failure, repeatable },
        redact,
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
      call.spent.attempts += 1;
      const elapsedMs = time.nowMs() - call.spent.startedAtMs;
      const result = await attempt(request, elapsedMs, call.signal);
      if (result.kind === 'answer') await budget.update(result.rate);
      const failure = failureOf(result, call.endpoint, time.nowMs());
      if (failure !== undefined) await recover(call, progress, { result, failure });
      else if (result.kind === 'answer') return result;
    }
  };
}

interface FailedAttempt {
  readonly result: AttemptResult;
  readonly failure: AttemptFailure;
}

/** What has happened to one request so far. */
interface Progress {
  attempts: number;
  /** An attempt left it open what became of the request. */
  everUnknown: boolean;
}

/** Whether the contract lets this very request be sent twice. */
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
    body: endpoint.encoding === 'multipart' ? formOf(body) : body && JSON.stringify(body),
  };
}

/** @param body judged by the schema of an endpoint that takes a form: texts and files by name */
function formOf(body: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body as Record<string, string | Blob>)) {
    form.append(name, value);
  }
  return form;
}

/** @throws PaymentServiceError of kind `aborted` (invariant 3). */
function throwIfAborted(call: Call, { everUnknown }: Progress): void {
  const { operation, endpoint, signal, spent } = call;
  if (!signal.aborted) return;
  const outcomeUnknown = everUnknown && endpoint.repetition.kind !== 'safe';
  throw new PaymentServiceError('aborted', {
    operation,
    message: outcomeUnknown ? 'aborted after it was sent' : 'aborted',
    attempts: spent.attempts,
    outcomeUnknown,
    cause: signal.reason,
  });
}

function outOfBudget(call: Call, progress: Progress): PaymentServiceError {
  return new PaymentServiceError('rate_limited', {
    operation: call.operation,
    message: 'the rate budget is used up for longer than the call may take',
    attempts: call.spent.attempts,
    outcomeUnknown: progress.everUnknown && call.endpoint.repetition.kind !== 'safe',
    retryable: isRepeatable(call) || !progress.everUnknown,
  });
}
