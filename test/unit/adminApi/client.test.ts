/** The client of the admin API where the response is late, lost, or from something else. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { AdminApiError, createAdminApiClient } from '../../../src/adminApi/index.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const TOKEN = 'thk_0123456789abcdefghijklmnopqrstuvwx';

async function clientOf(respond: RequestListener, timeoutMs?: number) {
  const started = createServer(respond);
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  const { port } = started.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}/`, token: TOKEN };
  return createAdminApiClient({ ...options, ...(timeoutMs !== undefined && { timeoutMs }) });
}

async function failureOf(call: Promise<unknown>): Promise<AdminApiError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AdminApiError)) throw new Error(`not an AdminApiError: ${error}`);
  expect(error.message).not.toContain(TOKEN);
  return error;
}

test('path, query and body carry each field once, and a flag is 1 or left out', async () => {
  const requests: string[] = [];
  const client = await clientOf((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      requests.push(`${request.method} ${request.url} ${body}`);
      response.end('{}');
    });
  });
  await client.putOrder({ order_id: 'a/b c?', by: 'order', amount: 1, currency: 'USD' });
  await client.listOrders({ open_finding: true, uncertain: false, currency: undefined, limit: 5 });
  await client.resumeReconciliation();
  expect(requests).toEqual([
    'PUT /api/v1/orders/a%2Fb%20c%3F?by=order {"amount":1,"currency":"USD"}',
    'GET /api/v1/orders?open_finding=1&limit=5 ',
    expect.stringMatching(/^POST \/api\/v1\/\S+ $/),
  ]);
});

test.each(['.', '..', ''])(
  'the id %j cannot be sent: it would name another endpoint',
  async (id) => {
    const client = createAdminApiClient({ baseUrl: 'http://127.0.0.1:9', token: TOKEN });
    await expect(client.getOrder({ order_id: id })).rejects.toThrow(TypeError);
  },
);

test('a call ends with its timeout, and what it did is unknown', async () => {
  const client = await clientOf(() => undefined, 50);
  const error = await failureOf(client.pauseReconciliation({ reason: 'a test' }));
  expect(error).toMatchObject({ kind: 'outcome_unknown', operation: 'pauseReconciliation' });
  expect(error.message).toMatch(/no response within 50 ms/);
});

test('a call has a timeout of its own', async () => {
  const client = await clientOf(() => undefined);
  const error = await failureOf(client.getRateBudget({}, { timeoutMs: 20 }));
  expect(error.message).toMatch(/no response within 20 ms/);
});

test('a response that is cut is unknown, and no connection means that nothing was done', async () => {
  const cut = await clientOf((request) => request.socket.destroy());
  expect(await failureOf(cut.getRateBudget())).toMatchObject({ kind: 'outcome_unknown' });
  await new Promise((resolve) => server?.close(resolve));
  expect(await failureOf(cut.getRateBudget())).toMatchObject({ kind: 'unavailable' });
});

test("the caller's signal aborts a call, and its reason is the cause", async () => {
  const abort = new AbortController();
  const client = await clientOf(() => abort.abort('gone'));
  const error = await failureOf(client.getRateBudget({}, { signal: abort.signal }));
  expect(error).toMatchObject({ kind: 'aborted', cause: 'gone' });
  expect(await failureOf(client.getRateBudget({}, { signal: abort.signal }))).toMatchObject({
    kind: 'aborted',
  });
});

test.each([
  ['a page', 200, '<html>'],
  ['a list', 200, '[]'],
  ['a redirect', 302, ''],
])('%s is not from the admin API', async (_, status, body) => {
  const client = await clientOf((_request, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end(body);
  });
  const error = await failureOf(client.getRateBudget());
  expect(error).toMatchObject({ kind: 'unreadable_response', httpStatus: status });
  expect(error.message).toMatch(/check baseUrl/);
});

test.each([
  [500, '<html>'],
  [502, 'Bad Gateway'],
  [503, ''],
  [504, '{"message":"Endpoint request timed out"}'],
])('after %d from a proxy, what a request did is unknown', async (status, body) => {
  const client = await clientOf((_request, response) => {
    response.writeHead(status, { 'retry-after': '7' }).end(body);
  });
  const wanted = {
    payment_id: 'pay_1',
    expected_amount: 6540,
    currency: 'USD',
    reason: 'returned',
  };
  const error = await failureOf(client.refundPayment(wanted));
  expect(error).toMatchObject({ kind: 'outcome_unknown', httpStatus: status, retryAfterMs: 7000 });
  expect(error.message).toMatch(/not from the admin API/);
});

test.each([
  [400, 'refused'],
  [401, 'refused'],
  [404, 'refused'],
  [409, 'refused'],
  [422, 'refused'],
  [429, 'unavailable'],
  [500, 'outcome_unknown'],
  [503, 'unavailable'],
  [504, 'outcome_unknown'],
])('an error with status %d is %s', async (status, kind) => {
  const client = await clientOf((_request, response) => {
    response
      .writeHead(status, { 'retry-after': '7' })
      .end('{"error":{"type":"api_error","code":"HE_00","message":"It is so."}}');
  });
  const error = await failureOf(client.getRateBudget());
  expect(error).toMatchObject({ kind, httpStatus: status, type: 'api_error', code: 'HE_00' });
  expect(error).toMatchObject({ message: 'getRateBudget: It is so.', retryAfterMs: 7000 });
});

test('a list that names the same next page again ends with an error, not never', async () => {
  const client = await clientOf((_request, response) => {
    response.end('{"orders":[{}],"next_cursor":"same"}');
  });
  const read = async () => {
    for await (const _ of client.iterate.listOrders());
  };
  expect(await failureOf(read())).toMatchObject({ kind: 'unreadable_response' });
});

test.each([
  [{ baseUrl: 'tallyhook.example' }, /baseUrl must begin with/],
  [{ baseUrl: 'ftp://tallyhook.example' }, /baseUrl must begin with/],
  [{ baseUrl: 'https://ada:hush@tallyhook.example' }, /baseUrl must not contain credentials/],
  [{ baseUrl: 'https://tallyhook.example/?a=b' }, /baseUrl must not contain credentials/],
  [{ token: 'two words' }, /token must consist of printable/],
  [{ token: '' }, /token is empty/],
  [{ timeoutMs: 0 }, /timeoutMs must be a number/],
  [{ timeoutMs: Number.NaN }, /timeoutMs must be a number/],
])('options that are not valid are refused: %j', (wrong, message) => {
  const options = { baseUrl: 'https://tallyhook.example', token: TOKEN };
  expect(() => createAdminApiClient({ ...options, ...wrong })).toThrow(message);
});
