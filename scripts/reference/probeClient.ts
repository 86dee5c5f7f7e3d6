/**
 * Finds the endpoint of each call by calling it: with a budget that admits nothing, every call fails
 * before it is sent, and the error names the endpoint.
 */
import {
  type AdminClient,
  type ClientOptions,
  createAdminClient,
  createClient,
  type PaymentServiceClient,
  PaymentServiceError,
} from '../../src/client/index.ts';
import { ENDPOINTS, type EndpointName } from '../../src/contract/endpoints/index.ts';

/** The name of a call, for example `payments.create`, and of its endpoint. */
export type EndpointOfCall = ReadonlyMap<string, EndpointName>;

/** @throws Error when the error of a call does not name an endpoint */
export function probeClient(): Promise<EndpointOfCall> {
  return collect(createClient({ ...OPTIONS, apiKey: 'snd_not_used' }));
}

/** The same for the administrative client. */
export function probeAdminClient(): Promise<EndpointOfCall> {
  return collect(createAdminClient({ ...OPTIONS, apiKey: 'admin_not_used' }));
}

const OPTIONS: Omit<ClientOptions, 'apiKey'> = {
  baseUrl: 'https://payments.invalid',
  retry: { totalTimeoutMs: 1 },
  budget: {
    acquire: () => Promise.resolve({ admitted: false, waitMs: 1 }),
    update: () => Promise.resolve(),
  },
};

async function collect(client: PaymentServiceClient | AdminClient): Promise<EndpointOfCall> {
  const found = new Map<string, EndpointName>();
  for (const [group, calls] of Object.entries(client)) {
    if (typeof calls === 'function') found.set(group, await endpointOf(group, calls));
    else {
      for (const [name, call] of Object.entries(calls as Readonly<Record<string, unknown>>)) {
        const called = `${group}.${name}`;
        found.set(called, await endpointOf(called, call));
      }
    }
  }
  return found;
}

async function endpointOf(name: string, call: unknown): Promise<EndpointName> {
  try {
    const result = (call as (...values: readonly object[]) => unknown)({}, {}, {});
    if (Symbol.asyncIterator in Object(result)) {
      await (result as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    } else await result;
  } catch (error) {
    if (error instanceof PaymentServiceError && error.operation in ENDPOINTS) {
      return error.operation as EndpointName;
    }
    throw new Error(`${name} failed without naming its endpoint`, { cause: error });
  }
  throw new Error(`${name} sent a request although the budget admits nothing`);
}
