/**
 * The admin API over HTTP. Every answer is checked against what the endpoint's description promises,
 * so that each test also tests the description.
 */
import { expect } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../src/console/endpoint.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { ADMIN_TOKEN } from './tallyhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against their schemas below
export type Body = any;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Api {
  readonly get: (path: string) => Promise<ApiAnswer>;
  readonly put: (path: string, body: unknown) => Promise<ApiAnswer>;
  readonly post: (path: string, body: unknown) => Promise<ApiAnswer>;
  readonly send: (path: string, init: RequestInit) => Promise<ApiAnswer>;
}

export function createApi(
  running: { readonly consolePort: number | undefined },
  token = ADMIN_TOKEN,
): Api {
  const send = async (path: string, init: RequestInit): Promise<ApiAnswer> => {
    const response = await fetch(`http://127.0.0.1:${running.consolePort}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    });
    const body: unknown = await response.json();
    checkAnswer({ method: init.method ?? 'GET', path, status: response.status, body });
    return { status: response.status, headers: response.headers, body };
  };
  const sendJson = (method: string, path: string, body: unknown): Promise<ApiAnswer> =>
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
  };
}

const envelope = z.strictObject({
  error: z.strictObject({ type: z.string(), code: z.string(), message: z.string().min(1) }),
});

const checked = new Set<Endpoint>();

/** The endpoints whose good answers were checked so far in this file. */
export function checkedEndpoints(): ReadonlySet<string> {
  return new Set([...checked].map(({ id }) => id));
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

function checkAnswer({ method, path, status, body }: Seen): void {
  if (status >= 400) {
    expect(envelope.safeParse(body).error, `${method} ${path}`).toBeUndefined();
    return;
  }
  const endpoint = ENDPOINTS.find(
    (one) => one.method === method.toLowerCase() && pathPattern(one).test(path),
  );
  if (!endpoint) throw new Error(`no endpoint describes ${method} ${path}`);
  const problems = endpoint.response.safeParse(body).error;
  expect(problems, `${method} ${path} answers otherwise than it is described`).toBeUndefined();
  expect([200, ...endpoint.statuses]).toContain(status);
  checked.add(endpoint);
}

function pathPattern({ path }: Endpoint): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
}
