/**
 * The service under test. Without settings it is our sandbox, started for each file. With CONFORMANCE_BASE_URL
 * and CONFORMANCE_API_KEY it is a real service's sandbox account (CONFORMANCE_PROFILE_ID names its
 * business profile): then everything that needs control routes, or our test cards, is skipped by name.
 *
 * The suite uses HTTP only, and assumes nothing about the service that is not in the contract.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS, type EndpointName, errorEnvelopeSchema } from '../../src/contract/index.ts';
import { startTestSandbox } from '../support/sandbox.ts';
import { createServiceApi, type Reply, type ServiceApi } from '../support/serviceApi.ts';

const { CONFORMANCE_BASE_URL, CONFORMANCE_API_KEY, CONFORMANCE_PROFILE_ID } = process.env;

/** Whether the service under test is our sandbox, which has control routes. */
export const isOurs = CONFORMANCE_BASE_URL === undefined || CONFORMANCE_API_KEY === undefined;

export interface Target extends ServiceApi {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profileId: string;
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function openTarget(
  options: { readonly requestsPerMinute?: number } = {},
): Promise<Target> {
  if (isOurs) return await startTestSandbox(options);
  const service = {
    baseUrl: (CONFORMANCE_BASE_URL ?? '').replace(/\/$/, ''),
    apiKey: CONFORMANCE_API_KEY ?? '',
  };
  return {
    ...service,
    ...createServiceApi(service),
    profileId: CONFORMANCE_PROFILE_ID ?? '',
    advance: () => Promise.reject(new Error('a real service has no clock to advance')),
    close: () => Promise.resolve(),
  };
}

/** The service under test of a file; it is available once the tests run. */
export function useTarget(options: Parameters<typeof openTarget>[0] = {}): Target {
  const target = {} as Target;
  beforeAll(async () => {
    Object.assign(target, await openTarget(options));
  });
  afterAll(() => target.close());
  return target;
}

/** A test that acts as the bank, advances the clock, or uses test cards of the sandbox. */
export const testOfOurs = isOurs ? test : test.skip;

/** An id that no other run has used. */
export function freshId(what: string): string {
  return `${what}-${randomUUID()}`;
}

/** Expects a success with a body that matches the contract of the endpoint. @returns the body */
export function expectResponse(name: EndpointName, reply: Reply): Reply['body'] {
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: ENDPOINTS[name].success });
  const read = ENDPOINTS[name].response.safeParse(reply.body);
  expect(read.error?.issues).toBeUndefined();
  return reply.body;
}

/** Expects an error of this status and code, in the contract's envelope. */
export function expectError(reply: Reply, status: number, code: string): void {
  expect({ status: reply.status, body: reply.body }).toMatchObject({
    status,
    body: { error: { code } },
  });
  expect(errorEnvelopeSchema.safeParse(reply.body).success).toBe(true);
}
