/** Calls with the types of their endpoints: what goes in, and what comes out. */
import { setMaxListeners } from 'node:events';
import { z } from 'zod';
import { ENDPOINTS, type Endpoint, type EndpointName } from '../contract/endpoints/index.ts';
import { type Page, readPage } from '../contract/lists.ts';
import { decideRetry, neededMs } from './domain/retry.ts';
import { PaymentServiceError } from './errors.ts';
import { type CallInput, type CallOptions, createSend, type Spent } from './send.ts';
import type { ClientSettings } from './settings.ts';
import type { Answer } from './transport.ts';

type Table = typeof ENDPOINTS;

/** The names of endpoints that answer with a list. */
export type ListName = {
  [N in EndpointName]: Table[N] extends { readonly item: z.ZodType } ? N : never;
}[EndpointName];

/** What an endpoint answers with. */
export type ResultOf<N extends EndpointName> = z.output<Table[N]['response']>;

/** One row of a list. */
export type ItemOf<N extends ListName> = z.output<Table[N]['item']>;

/** What an endpoint takes. */
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
  /** An endpoint that answers with one resource. */
  readonly one: <N extends Exclude<EndpointName, ListName>>(
    name: N,
    input: InputOf<N>,
    options?: OneOptions,
  ) => Promise<ResultOf<N>>;
  /** An endpoint that answers with a page of a list, in whatever envelope. */
  readonly page: <N extends ListName>(
    name: N,
    input: InputOf<N>,
    options?: CallOptions,
  ) => Promise<Page<ItemOf<N>>>;
  /** For a call that may take several requests: they share its time, and are counted together. */
  readonly begin: () => Spent;
  /**
   * Waits before a request that failed `failures` times is sent again.
   * @returns false where the retry policy leaves no further attempt
   */
  readonly backOff: (failures: number, spent: Spent, signal?: AbortSignal) => Promise<boolean>;
}

/** Options of a call for one resource. */
export interface OneOptions extends CallOptions {
  /** Something said that the resource exists: "not found" means "not visible yet". */
  readonly mustExist?: boolean;
  /** Of the call that this request belongs to; one of its own when it is left out. */
  readonly spent?: Spent;
}

/** Puts the types of the table on `send`. */
export function createCalls(settings: ClientSettings): Calls {
  const send = createSend(settings);
  const begin = (): Spent => ({ startedAtMs: settings.time.nowMs(), attempts: 0 });
  const call = async <T>(
    name: EndpointName,
    input: CallInput,
    options: OneOptions,
    read: (endpoint: Endpoint, body: unknown) => T,
  ): Promise<T> => {
    const endpoint: Endpoint = ENDPOINTS[name];
    const { lane = 'operator', mustExist = false, spent = begin() } = options;
    const signal = options.signal ?? new AbortController().signal;
    // Many calls may end by one signal, which is no leak.
    setMaxListeners(0, signal);
    const answer = await send({ operation: name, endpoint, input, lane, signal, mustExist, spent });
    options.onResponse?.({ serviceTimeMs: answer.serviceTimeMs });
    try {
      return read(endpoint, answer.body);
    } catch (error) {
      throw unreadable({ operation: name, endpoint, answer, spent, cause: error });
    }
  };
  return {
    one: (name, input, options = {}) =>
      call(
        name,
        input,
        options,
        (endpoint, body) => endpoint.response.parse(body) as ResultOf<typeof name>,
      ),
    page: (name, input, options = {}) =>
      call(
        name,
        input,
        options,
        (_, body) => readPage<unknown>(ENDPOINTS[name].item, body) as Page<ItemOf<typeof name>>,
      ),
    begin,
    backOff: async (failures, spent, signal = new AbortController().signal) => {
      const { retry, time, random } = settings;
      const decision = decideRetry(
        {
          failure: TRANSIENT,
          repeatable: true,
          mustExist: false,
          attempts: failures,
          elapsedMs: time.nowMs() - spent.startedAtMs,
          neededMs: neededMs(false, retry),
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

/** A 5xx without a wait of its own. */
const TRANSIENT = {
  kind: 'answer',
  httpStatus: 503,
  code: undefined,
  namedWaitMs: undefined,
} as const;

interface Unreadable {
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly answer: Answer;
  readonly spent: Spent;
  readonly cause: unknown;
}

const MOST_FIELDS_NAMED = 5;

/** Names the fields that are wrong, and nothing that was answered. */
function unreadable(call: Unreadable): PaymentServiceError {
  const { operation, endpoint, answer, spent, cause } = call;
  const issues = cause instanceof z.ZodError ? cause.issues : [];
  const fields = new Set(issues.map(({ path }) => path.join('.') || 'the whole of it'));
  const named = [...fields].slice(0, MOST_FIELDS_NAMED).join(', ');
  return new PaymentServiceError('unreadable_response', {
    operation,
    message: `HTTP ${answer.httpStatus}, but the answer is not what the contract says: ${named}`,
    httpStatus: answer.httpStatus,
    requestId: answer.requestId,
    attempts: spent.attempts,
    outcomeUnknown: endpoint.repetition.kind !== 'safe',
  });
}
