/**
 * The admin API over HTTP. Every response is checked against the endpoint's schema and status codes, so
 * each test of the API also tests its description.
 */
import { expect } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../src/console/endpoint.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { ADMIN_TOKEN } from './tallyhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: responses are checked against their schemas below
export type Body = any;

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Api {
  readonly get: (path: string) => Promise<ApiResponse>;
  readonly put: (path: string, body: unknown) => Promise<ApiResponse>;
  readonly post: (path: string, body: unknown) => Promise<ApiResponse>;
  readonly send: (path: string, init: RequestInit) => Promise<ApiResponse>;
  /** Ids of the endpoints with a successful response that was checked. */
  readonly checked: ReadonlySet<string>;
}

export function createApi(
  running: { readonly consolePort: number | undefined },
  token = ADMIN_TOKEN,
): Api {
  const checked = new Set<string>();
  const send = async (path: string, init: RequestInit): Promise<ApiResponse> => {
    const response = await fetch(`http://127.0.0.1:${running.consolePort}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    });
    const body: unknown = await response.json();
    const { status } = response;
    const endpoint = checkResponse({ method: init.method ?? 'GET', path, status, body });
    if (endpoint) checked.add(endpoint.id);
    return { status, headers: response.headers, body };
  };
  const sendJson = (method: string, path: string, body: unknown): Promise<ApiResponse> =>
    send(path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    get: (path) => send(path, {}),
    put: (path, body) => sendJson('PUT', path, body),
    post: (path, body) => sendJson('POST', path, body),
    send,
    checked,
  };
}

const envelope = z.strictObject({
  error: z.strictObject({ type: z.string(), code: z.string(), message: z.string().min(1) }),
  continue_after: z.int().min(0).optional(),
});

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

/** @returns the endpoint if the response is a successful one */
function checkResponse({ method, path, status, body }: Exchange): Endpoint | undefined {
  if (status >= 400) {
    expect(envelope.safeParse(body).error, `${method} ${path}`).toBeUndefined();
    return undefined;
  }
  const endpoint = ENDPOINTS.find(
    (one) => one.method === method.toLowerCase() && pathPattern(one).test(path),
  );
  if (!endpoint) throw new Error(`no endpoint is defined for ${method} ${path}`);
  const problems = endpoint.response.safeParse(body).error;
  expect(problems, `${method} ${path} does not match its schema`).toBeUndefined();
  expect([200, ...endpoint.statuses]).toContain(status);
  return endpoint;
}

function pathPattern({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
}
