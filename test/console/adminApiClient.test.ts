/**
 * The client of the admin API on a real console: every endpoint of the table has a method that reaches it
 * with all of its fields, and that returns what the endpoint describes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AdminApiCalls,
  type AdminApiClient,
  AdminApiError,
  createAdminApiClient,
} from '../../src/adminApi/index.ts';
import { OPERATIONS, type Operation, type OperationName } from '../../src/adminApi/operations.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { createChangeFeed } from '../../src/ledger/changeFeed.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { disputeEvent, paymentEvent, payoutEvent, refundEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { createTestToken } from '../support/tokens.ts';

const order_id = unique('ord');
const payment_id = unique('pay');
const refund_id = unique('ref');
const dispute_id = unique('dp');
const payout_id = unique('po');

let db: TestDatabase;
let tallyhook: TestTallyhook;
let client: AdminApiClient;
let viewer: string;

beforeAll(async () => {
  db = await createTestDatabase();
  viewer = await createTestToken(db, { name: 'a-viewer', role: 'viewer' });
  tallyhook = await startTallyhook({ db, roles: ['console'] });
  client = createAdminApiClient({ baseUrl: address(), token: ADMIN_TOKEN });
  await applyEach(db, testApplier(db), [
    paymentEvent({ payment_id, orderId: order_id }),
    refundEvent(payment_id, { refund_id }),
    disputeEvent(payment_id, { dispute_id }),
    payoutEvent({ payout_id }),
  ]);
  await createChangeFeed(db).publish();
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const address = (): string => `http://127.0.0.1:${tallyhook.consolePort}`;

type Example<Name extends OperationName> =
  | { readonly input: Parameters<AdminApiCalls[Name]>[0] }
  /** The endpoint refuses what the example names. */
  | { readonly input: Parameters<AdminApiCalls[Name]>[0]; readonly status: 404 | 409 }
  /** The console has no key of the service. */
  | { readonly input: Parameters<AdminApiCalls[Name]>[0]; readonly status: 503 };

const reason = 'a test';
const seen = { expected_amount: 6540, currency: 'USD', reason };
const list = { currency: 'USD', from: '2026-01-01T00:00:00Z', totals: true, limit: 10 };
const number = 4711;

/** Does not compile while an endpoint has no example. In the order in which they are called. */
const EXAMPLES: { readonly [Name in OperationName]: Example<Name> } = {
  search: { input: { q: payment_id, in: 'ids' } },
  listOrders: { input: { ...list, open_finding: false } },
  getOrder: { input: { order_id, by: 'order', refresh: true } },
  putOrder: { input: { order_id, by: 'order', amount: 6540, currency: 'usd' } },
  listOrderParts: { input: { order_id, by: 'order', limit: 2 } },
  listPayments: { input: { ...list, order_id } },
  getPayment: { input: { payment_id, refresh: true } },
  listRefunds: { input: { ...list, max_amount: 5000 } },
  getRefund: { input: { refund_id } },
  listDisputes: { input: { ...list, min_amount: 1 } },
  getDispute: { input: { dispute_id } },
  listPayouts: { input: list },
  getPayout: { input: { payout_id } },
  getResourceTimeline: { input: { kind: 'payment', resource_id: payment_id, recorded: true } },
  listResourceSnapshots: { input: { kind: 'refund', resource_id: refund_id } },
  listChanges: { input: { after: 0, limit: 3 } },
  listEvents: { input: { state: 'applied', order: order_id, limit: 2 } },
  getEvent: { input: { event: '1' } },
  replayEvent: { input: { event: '1' } },
  discardEvent: { input: { event: 'nope', reason }, status: 404 },
  startReplay: { input: { order: order_id, reason } },
  listReplays: { input: { limit: 1 } },
  getReplay: { input: { number: 1 } },
  stopReplay: { input: { number }, status: 404 },
  listFindings: { input: { state: 'open', limit: 5 } },
  acceptFinding: { input: { number, reason }, status: 404 },
  acceptFindings: { input: { numbers: [number], reason } },
  listAlerts: { input: { severity: 'critical', rule: 'dispute_opened' } },
  getAlert: { input: { number: 1 } },
  acknowledgeAlert: { input: { number, reason }, status: 404 },
  snoozeAlert: {
    input: { number, until: new Date(Date.now() + 3_600_000).toISOString(), reason },
    status: 404,
  },
  assignAlert: { input: { number, to: 'Ada', reason }, status: 404 },
  listMessages: { input: { channel: 'log', kind: 'alert' } },
  getMessage: { input: { number }, status: 404 },
  resendMessage: { input: { number, reason }, status: 404 },
  listChannels: { input: {} },
  testChannel: { input: { channel: 'slack' }, status: 404 },
  listAuthorizations: { input: { limit: 1 } },
  captureAuthorization: { input: { payment_id, amount: 1, ...seen }, status: 503 },
  cancelAuthorization: { input: { payment_id, ...seen }, status: 503 },
  refundPayment: { input: { payment_id, ...seen }, status: 503 },
  acceptDispute: { input: { dispute_id, stage: null, ...seen }, status: 503 },
  getEvidence: { input: { dispute_id }, status: 503 },
  submitEvidence: {
    input: { dispute_id, stage: null, evidence: { customer_name: 'Ada' }, ...seen },
    status: 503,
  },
  uploadEvidence: { input: { dispute_id, name: 'a.pdf', content: 'JVBERi0=' }, status: 503 },
  retryPayout: { input: { payout_id, ...seen }, status: 503 },
  cancelPayout: { input: { payout_id, status: 'pending', ...seen }, status: 503 },
  fulfillPayout: { input: { payout_id, status: 'pending', ...seen }, status: 503 },
  listReconciliations: { input: { stream: 'payments' } },
  startReconciliation: { input: { stream: 'payments', mode: 'full', dry_run: true } },
  getReconciliation: { input: { number }, status: 404 },
  stopReconciliation: { input: { number }, status: 404 },
  listMissedWebhooks: { input: { days: 2 } },
  getRateBudget: { input: {} },
  getBalances: { input: { order_id, by: 'order' } },
  getChain: { input: {} },
  getClearing: { input: { as_of: '2026-11-01T00:00:00Z' } },
  listUnmatched: { input: { part: 'not_reported', currency: 'USD', limit: 1 } },
  listTransfers: { input: { ...list, recorded: true, order_id, account: 'order.due' } },
  getStatement: { input: { month: '2026-10', currency: 'USD', time_zone: 'Europe/Berlin' } },
  listClosings: { input: {} },
  getClosableMonth: { input: { month: '2026-10', time_zone: 'Europe/Berlin' } },
  closeMonth: {
    input: { month: '2026-10', time_zone: 'UTC', with_exceptions: true, reason },
  },
  reopenMonth: { input: { month: '2026-10', reason } },
  pauseReconciliation: { input: { reason } },
  resumeReconciliation: { input: {} },
  listProcesses: { input: {} },
  listQueues: { input: {} },
  listSchedules: { input: {} },
  runSchedule: { input: { name: 'nope', reason }, status: 404 },
  listAudit: { input: { action: 'order.register', limit: 5 } },
  closeAttempt: { input: { number, outcome: 'done', reason }, status: 404 },
  listSessions: { input: { limit: 1 } },
  endSession: { input: { number, everywhere: false, reason }, status: 404 },
  listTokens: { input: { all: true } },
  createToken: { input: { name: 'robot', role: 'viewer', expires_in_hours: 1 } },
  revokeToken: { input: { name: 'robot' } },
  planErasure: { input: { subjects: [{ kind: 'customer', id: 'cus_none' }] } },
  requestErasure: {
    input: { subjects: [{ kind: 'customer', id: 'cus_none' }], reason, confirm: true },
  },
  listErasures: { input: { limit: 1 } },
  getErasure: { input: { number: 1 } },
};

test('the table of the client is that of the admin API', () => {
  const wanted = ENDPOINTS.map(({ id, method, path, query, body }) => [
    id,
    method.toUpperCase(),
    path,
    Object.keys(query.shape),
    body !== undefined,
  ]);
  const table: readonly (readonly [string, Operation])[] = Object.entries(OPERATIONS);
  const rows = table.map(([id, { method, path, query, hasBody }]) => [
    id,
    method,
    path,
    query,
    hasBody,
  ]);
  const byId = (a: readonly unknown[], b: readonly unknown[]) =>
    String(a[0]).localeCompare(String(b[0]));
  expect(rows.toSorted(byId)).toEqual(wanted.toSorted(byId));
});

test.each(Object.entries(EXAMPLES))('%s reaches its endpoint', async (id, example) => {
  const endpoint = ENDPOINTS.find((one) => one.id === id);
  const call = client[id as OperationName] as (input: unknown) => Promise<unknown>;
  const result = await call(example.input).catch((error: unknown) => error);
  if (!('status' in example)) {
    expect(result).not.toBeInstanceOf(Error);
    expect(endpoint?.response.safeParse(result).error).toBeUndefined();
    return;
  }
  expect(result).toBeInstanceOf(AdminApiError);
  expect(result).toMatchObject({
    operation: id,
    httpStatus: example.status,
    kind: example.status === 503 ? 'unavailable' : 'refused',
  });
  // Its own refusal, and not that of an address that does not exist.
  expect(String(result)).not.toContain('There is no endpoint');
  if (example.status === 503) expect(result).toMatchObject({ retryAfterMs: 5000 });
});

test('a list is read row by row through all of its pages, each row once', async () => {
  const parts: string[] = [];
  for await (const part of client.iterate.listOrderParts({ order_id, limit: 1 })) {
    parts.push(part.kind);
  }
  expect(parts).toEqual(['payment', 'refund', 'dispute']);
});

test('the feed of changes is read to its end, and continues after a number', async () => {
  const changes: number[] = [];
  for await (const { number: place } of client.iterate.listChanges({ limit: 2 })) {
    changes.push(place);
  }
  const all = await client.listChanges({ limit: 100 });
  expect(changes.length).toBeGreaterThan(2);
  expect(changes).toEqual(all.changes.map((one) => one.number));
  const later: number[] = [];
  for await (const one of client.iterate.listChanges({ after: changes.at(-2) ?? 0 })) {
    later.push(one.number);
  }
  expect(later).toEqual(changes.slice(-1));
});

test.each([
  ['with a wrong token', 'no-such-token', 401],
  ['without the permission', undefined, 403],
])('a call %s is refused in the form of the admin API', async (_, wrong, httpStatus) => {
  const token = wrong ?? viewer;
  const other = createAdminApiClient({ baseUrl: address(), token });
  const error = await other.pauseReconciliation({ reason }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AdminApiError);
  expect(error).toMatchObject({
    kind: 'refused',
    httpStatus,
    type: 'authentication_error',
    code: httpStatus === 401 ? 'AU_01' : 'IR_22',
  });
  expect(String(error)).not.toContain(token);
});

test('a field that the API does not have is refused by name', async () => {
  const input = { currency: 'USD', curency: 'USD' };
  await expect(client.listOrders(input)).rejects.toThrow(/"curency" is unknown/);
});
