/** One checker for each kind of check, except scenarios. */
import { expect } from 'vitest';
import {
  declineAdvice,
  ENDPOINTS,
  type Endpoint,
  problemsOf,
} from '../../../src/contract/index.ts';
import { testCard, type UnifiedCode } from '../../../src/sandbox/domain/outcomes.ts';
import type { Check, JsonType } from '../statements/index.ts';
import { valueAt, withoutValue, withValue } from './paths.ts';
import { type Prepared, prepare, resolveValue, sendPrepared } from './requests.ts';
import { sample } from './samples.ts';
import { ok, refused, type Service } from './service.ts';

type Of<By extends Check['by']> = Extract<Check, { readonly by: By }>;

const ISO_8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

function isOfType(value: unknown, type: JsonType): boolean {
  const [form, orNull] = type.split('|');
  if (value === null) return orNull === 'null';
  switch (form) {
    case 'integer':
      return Number.isInteger(value);
    case 'timestamp':
      return typeof value === 'string' && ISO_8601.test(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
    case 'any':
      return value !== undefined;
    default:
      return typeof value === form;
  }
}

export async function checkResponse(service: Service, check: Of<'response'>): Promise<void> {
  const body = await sample(service, check.sample);
  const value = valueAt(body, check.path);
  expect(value, `${check.path} in ${JSON.stringify(body)}`).not.toBeUndefined();
  if ('equals' in check) expect(value).toEqual(check.equals);
  if (check.is)
    expect(isOfType(value, check.is), `${check.path}: ${JSON.stringify(value)}`).toBe(true);
}

/** The client rejects a request that the contract does not allow before it sends it. */
function clientProblems(request: Prepared): readonly string[] {
  const { body, query }: Endpoint = ENDPOINTS[request.endpoint];
  const schema = body ?? query;
  return schema ? problemsOf(schema, request.body).map(({ message }) => message) : [];
}

export async function checkAccepts(service: Service, check: Of<'accepts'>): Promise<void> {
  const base = await prepare(service, check.request);
  const value = await resolveValue(service, check.value, base);
  const request = { ...base, body: withValue(base.body, check.path, value) };
  expect(clientProblems(request), 'the client would not send it').toEqual([]);
  const body = ok(await sendPrepared(service, request));
  const { shownAt } = check;
  if (shownAt === undefined) return;
  if (!shownAt.startsWith('$evidence:')) {
    expect(valueAt(body, shownAt), `${shownAt} in ${JSON.stringify(body)}`).toEqual(
      shownAt === check.path ? value : (valueAt(request.body, shownAt) ?? value),
    );
    return;
  }
  const { evidence } = ok(await service.get(`/disputes/evidence/${body.dispute_id}`));
  const fields = Object.assign({}, ...Object.values(evidence));
  expect(fields[shownAt.slice('$evidence:'.length)]).toBe(value);
}

/** What a request needs is created once for all that are refused: they change nothing. */
function prepareOnce(service: Service, request: string): Promise<Prepared> {
  return service.once(`request ${request}`, () => prepare(service, request));
}

export async function checkRefuses(service: Service, check: Of<'refuses'>): Promise<void> {
  const base = await prepareOnce(service, check.request);
  const value = await resolveValue(service, check.value, base);
  const request = { ...base, body: withValue(base.body, check.path, value) };
  const error = refused(await sendPrepared(service, request), 400, 'IR_04');
  expectNamed(check.path, error.message);
}

/** The rejection must name the field or its parent: a rejection for another reason does not count. */
function expectNamed(path: string, message: string): void {
  const names = path.split('.').filter((name) => !/^\d+$/.test(name));
  expect(
    names.some((name) => message.includes(name)),
    `${message} names none of ${names}`,
  ).toBe(true);
}

export async function checkRequires(service: Service, check: Of<'requires'>): Promise<void> {
  const base = await prepareOnce(service, check.request);
  const request = { ...base, body: withoutValue(base.body, check.path) };
  const error = refused(await sendPrepared(service, request), 400, 'IR_01');
  expect(error.message).toContain(check.path.split('.').at(-1));
}

export async function checkAllowsWithout(
  service: Service,
  check: Of<'allowsWithout'>,
): Promise<void> {
  const base = await prepare(service, check.request);
  ok(await sendPrepared(service, { ...base, body: withoutValue(base.body, check.path) }));
}

/** An unknown route is 404 with IR_05 and its own message; a known one has a response of its own. */
export async function checkRoute(service: Service, check: Of<'route'>): Promise<void> {
  const { method, path } = check;
  const known = Object.values(ENDPOINTS).map((endpoint) => `${endpoint.method} ${endpoint.path}`);
  expect(known, 'the client has no such call').toContain(`${method} ${path}`);
  const filled = path.replaceAll(':merchant_id', 'merchant_local').replaceAll(/:\w+/g, 'nobody');
  const send = path.startsWith('/api_keys') ? service.asAdmin : service.call;
  const reply = await send(method, filled, method === 'GET' ? undefined : {});
  if (reply.status === 404) expect(reply.body.error.message).not.toContain('There is no route');
  expect(reply.status).not.toBe(405);
}

export async function checkDecline(service: Service, check: Of<'decline'>): Promise<void> {
  const code = check.code as UnifiedCode;
  const failed = await service.once(`decline ${code}`, () => service.paymentOf('final', code));
  expect(failed).toMatchObject({ status: 'failed', unified_code: code });
  if (check.message === undefined) {
    expect(failed.payment_method_data.card.last4).toBe(testCard('final', code).slice(-4));
    return;
  }
  expect(failed.unified_message).toBe(check.message);
  expect(declineAdvice(code).customerMessage).toBe(check.message);
}
