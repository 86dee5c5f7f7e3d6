/** Typed calls: the input and output of every endpoint. */
import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { ENDPOINTS, type Endpoint, type EndpointName } from '../contract/endpoints/index.ts';
import { type Page, readPage } from '../contract/lists.ts';
import { differingFields } from './domain/correspondence.ts';
import { decideRetry, requiredMs } from './domain/retry.ts';
import { PaymentServiceError } from './errors.ts';
import { type CallInput, type CallOptions, type CallTotals, createSend } from './send.ts';
import type { ClientSettings } from './settings.ts';
import type { ServiceResponse } from './transport.ts';

type Table = typeof ENDPOINTS;

/** The names of endpoints that return a list. */
export type ListName = {
  [N in EndpointName]: Table[N] extends { readonly item: z.ZodType } ? N : never;
}[EndpointName];

/** The response of an endpoint. */
export type ResultOf<N extends EndpointName> = z.output<Table[N]['response']>;

/** One row of a list. */
export type ItemOf<N extends ListName> = z.output<Table[N]['item']>;

/** The input of an endpoint. */
export type InputOf<N extends EndpointName> = CallInput & {
  readonly params?: z.input<Table[N]['params']>;
} & (Table[N] extends { readonly body: infer B extends z.ZodType }
    ? { readonly body?: z.input<B> }
    : { readonly body?: never }) &
  (Table[N] extends { readonly query: infer Q extends z.ZodType }
    ? { readonly query?: z.input<Q> }
    : { readonly query?: never });

/** The two forms of a call. Both throw PaymentServiceError. */
export interface Calls {
  /** Calls an endpoint that returns one resource. */
  readonly call: <N extends Exclude<EndpointName, ListName>>(
    name: N,
    input: InputOf<N>,
    options?: SharedCallOptions & Checked<ResultOf<N>>,
  ) => Promise<ResultOf<N>>;
  /** Calls an endpoint that returns a page of a list, in any envelope. */
  readonly page: <N extends ListName>(
    name: N,
    input: InputOf<N>,
    options?: CallOptions,
  ) => Promise<Page<ItemOf<N>>>;
  /** Starts a call of several requests, which share its time limit and are counted together. */
  readonly startCall: () => CallTotals;
  /**
   * Waits before a request that failed `failures` times is retried.
   * @returns false if the retry policy allows no further attempt
   */
  readonly backOff: (
    failures: number,
    totals: CallTotals,
    signal?: AbortSignal,
  ) => Promise<boolean>;
}

/** Options of a call for one resource. */
export interface SharedCallOptions extends CallOptions {
  /** The resource is known to exist, so "not found" means "not visible yet". */
  readonly mustExist?: boolean;
  /** The call that this request belongs to; a new one by default. */
  readonly totals?: CallTotals;
}

/** A check of a response beside the fields that it shares with the request. */
interface Checked<T> {
  /** The names of the fields that contradict the request. */
  readonly contradictions?: (result: T) => readonly string[];
}

/** How a response is read. */
interface Reading<T> extends Checked<T> {
  readonly read: (endpoint: Endpoint, body: unknown) => T;
}

/** Adds the types of the endpoint table to `send`. */
export function createCalls(settings: ClientSettings): Calls {
  const send = createSend(settings);
  const startCall = (): CallTotals => ({ startedAtMs: settings.time.nowMs(), attempts: 0 });
  const call = async <T>(
    name: EndpointName,
    input: CallInput,
    options: SharedCallOptions,
    { read, contradictions = () => [] }: Reading<T>,
  ): Promise<T> => {
    const endpoint: Endpoint = ENDPOINTS[name];
    const { lane = 'operator', mustExist = false, totals = startCall() } = options;
    const signal = options.signal ?? new AbortController().signal;
    // Node.js warns of a leak at eleven listeners, but many calls may share one signal.
    setMaxListeners(0, signal);
    const response = await send({
      operation: name,
      endpoint,
      input,
      lane,
      signal,
      mustExist,
      totals,
    });
    options.onResponse?.({ serviceTimeMs: response.serviceTimeMs });
    const received: Received = { operation: name, endpoint, response, totals };
    let result: T;
    try {
      result = read(endpoint, response.body);
    } catch (error) {
      throw unreadable(received, error);
    }
    const differing = endpoint.item ? [] : differingFields(input, result);
    if (differing.length > 0) throw foreign(received, differing);
    const contradicted = contradictions(result);
    if (contradicted.length > 0) {
      throw unusable(received, 'contradicts the request', contradicted);
    }
    return result;
  };
  return {
    call: (name, input, options = {}) =>
      call(name, input, options, {
        read: (endpoint, body) => endpoint.response.parse(body) as ResultOf<typeof name>,
        ...(options.contradictions && { contradictions: options.contradictions }),
      }),
    page: (name, input, options = {}) =>
      call(name, input, options, {
        read: (_, body) =>
          readPage<unknown>(ENDPOINTS[name].item, body) as Page<ItemOf<typeof name>>,
      }),
    startCall,
    backOff: async (failures, totals, signal = new AbortController().signal) => {
      const { retry, time, random } = settings;
      const decision = decideRetry(
        {
          failure: TRANSIENT,
          repeatable: true,
          mustExist: false,
          attempts: failures,
          elapsedMs: time.nowMs() - totals.startedAtMs,
          requiredMs: requiredMs(false, retry),
          random: random(),
        },
        retry,
      );
      if (decision.action === 'stop') return false;
      await time.sleep(decision.delayMs, signal);
      return !signal.aborted;
    },
  };
}

/** A 5xx that names no wait. */
const TRANSIENT = {
  kind: 'response',
  httpStatus: 503,
  code: undefined,
  namedWaitMs: undefined,
} as const;

/** A response that cannot be used. */
interface Received {
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly response: ServiceResponse;
  readonly totals: CallTotals;
}

const MAX_FIELDS_NAMED = 5;

/** Names the fields that are wrong and none of their values. */
function unreadable(received: Received, cause: unknown): PaymentServiceError {
  const issues = cause instanceof z.ZodError ? cause.issues : [];
  const fields = issues.map(({ path }) => path.join('.') || 'the whole body');
  return unusable(received, 'does not match the contract', fields);
}

/** The response is of another resource than was requested, so it shows nothing about this one. */
function foreign(received: Received, fields: readonly string[]): PaymentServiceError {
  return unusable(received, 'is about something else than was requested', fields);
}

function unusable(
  { operation, endpoint, response, totals }: Received,
  how: string,
  fields: readonly string[],
): PaymentServiceError {
  const named = [...new Set(fields)].slice(0, MAX_FIELDS_NAMED).join(', ');
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: `HTTP ${response.httpStatus}, but the response ${how}: ${named}`,
    httpStatus: response.httpStatus,
    requestId: response.requestId,
    attempts: totals.attempts,
    outcomeUnknown: endpoint.repetition.kind !== 'safe',
  });
}
