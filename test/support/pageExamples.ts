/** A ledger, a sandbox and a console with something for every page to show, and the paths of all pages over them. */

import { startReplayAs } from '../../src/actions/replayRuns.ts';
import { readAlert } from '../../src/alerts/store/alertRows.ts';
import { readFinding } from '../../src/ledger/read/store/findings.ts';
import { readMessageRow } from '../../src/notify/store/messageRows.ts';
import { ACTIONS, PAGES } from '../../src/pages/pages.ts';
import { insertRun, readRun } from '../../src/reconcile/store/runs.ts';
import { createApi } from './api.ts';
import { chainJournal } from './chain.ts';
import type { TestDatabase } from './database.ts';
import { importLines } from './importLines.ts';
import { applyEach, testApplier } from './ledger.ts';
import { createTestNotifier } from './notifier.ts';
import { openPages, type PageViewer } from './pages.ts';
import { disputeEvent, paymentEvent, payoutEvent, refundEvent } from './payments.ts';
import type { SandboxConsole } from './sandboxConsole.ts';
import { cardPayment } from './sandboxRequests.ts';
import { ADMIN_TOKEN } from './tallyhook.ts';
import { waitFor } from './waitFor.ts';

/** What a sender may put into any text: it must be shown as it is, and run nowhere. */
const HOSTILE = `"'><script>window.hostile=1</script><img src=x onerror=window.hostile=1>&amp;`;

const EXAMPLE_ORDER = `ord ${HOSTILE}`;
const SANDBOX_ORDER = `play ${HOSTILE}`;
const EXAMPLE_PAYMENT = 'pay_example';
const EXAMPLE_HOLD = 'pay_held';

/** Applies events with hostile text wherever a sender may put text. */
export async function addExamples(db: TestDatabase): Promise<void> {
  await applyEach(db, testApplier(db), [
    paymentEvent({
      payment_id: EXAMPLE_PAYMENT,
      orderId: EXAMPLE_ORDER,
      description: HOSTILE,
      error_message: HOSTILE,
    }),
    paymentEvent({ orderId: 'ord_plain', currency: 'JPY', amount: 900, amount_received: 900 }),
    refundEvent(EXAMPLE_PAYMENT, { refund_id: 'ref_example', amount: 1500, reason: HOSTILE }),
    disputeEvent(EXAMPLE_PAYMENT, {
      dispute_id: 'dp_example',
      amount: '2000',
      connector_reason: HOSTILE,
      connector_reason_code: '10.4',
    }),
    // More than was captured: a finding with an alert.
    refundEvent(EXAMPLE_PAYMENT, { amount: 9000 }),
    paymentEvent({
      payment_id: EXAMPLE_HOLD,
      orderId: 'ord_held',
      status: 'requires_capture',
      amount_received: 0,
      amount_capturable: 6540,
      capture_method: 'manual',
    }),
    payoutEvent({ payout_id: 'po_example', merchant_order_reference_id: HOSTILE }),
  ]);
  await importLines(db, HOSTILE);
  await chainJournal(db);
  await createTestNotifier({ db, env: {} }).dispatch();
  await insertRun(db, {
    stream: 'payments',
    mode: 'full',
    cause: 'operator',
    isDryRun: false,
    fromAt: new Date('2026-11-01T00:00:00Z'),
    toAt: new Date('2026-11-02T00:00:00Z'),
  });
  await refuseMissing(db);
  const actor = { kind: 'token', name: 'ada', role: 'operator', origin: '127.0.0.1' } as const;
  await startReplayAs({ db }, actor, { filter: { state: 'dead' }, reason: HOSTILE });
}

/** Every page with a number has something to show: a page that nobody sees is a page that nobody tests. */
async function refuseMissing(db: TestDatabase): Promise<void> {
  // A process with the role alerts may have claimed what becomes the message.
  await waitFor('message 1', async () => (await readMessageRow(db, 1)) !== undefined);
  const found = [await readAlert(db, 1), await readFinding(db, 1), await readRun(db, 1)];
  const missing = ['alert', 'finding', 'run'].filter((_, place) => found[place] === undefined);
  if (missing.length > 0) throw new Error(`there is no number 1 of: ${missing.join(', ')}`);
}

/** What exists only in a running console and its sandbox. */
interface Known {
  readonly planPath: string;
  readonly failedPayout: string;
  readonly session: number;
  readonly erasure: number;
}

export interface Examples {
  /** The path of a page with an example for each parameter. */
  readonly pathOf: (page: string) => string;
}

/** Adds what pages show that only a console and a sandbox have: a plan, a session, a payout to pay again. */
export async function addConsoleExamples(all: SandboxConsole): Promise<Examples> {
  const viewer = await openPages(all.tallyhook);
  await pay(all, viewer);
  const known: Known = {
    failedPayout: await failPayout(all, viewer),
    session: await signInFromHostileBrowser(all),
    erasure: await requestErasure(all),
    planPath: await planErasure(viewer),
  };
  return { pathOf: (page) => examplePath(page, known) };
}

async function pay({ sandbox }: SandboxConsole, viewer: PageViewer): Promise<void> {
  const request = cardPayment({ metadata: { order_id: SANDBOX_ORDER }, description: HOSTILE });
  const { body } = await sandbox.call('POST', '/payments', request);
  await viewer.post(`/resources/payment/${body.payment_id}/refresh`, {});
}

async function failPayout({ sandbox }: SandboxConsole, viewer: PageViewer): Promise<string> {
  const stored = { payout_type: 'bank', payout_method_id: 'pm_stored' };
  const texts = { description: HOSTILE, merchant_order_reference_id: `back ${HOSTILE}` };
  const request = { amount: 2500, currency: 'EUR', confirm: true, ...stored, ...texts };
  const { body } = await sandbox.call('POST', '/payouts/create', request);
  const id: string = body.payout_id;
  await sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
  await viewer.post(`/resources/payout/${id}/refresh`, {});
  return id;
}

async function signInFromHostileBrowser({ db, tallyhook }: SandboxConsole): Promise<number> {
  await fetch(`http://127.0.0.1:${tallyhook.consolePort}/sign-in`, {
    method: 'POST',
    headers: { 'user-agent': HOSTILE },
    body: new URLSearchParams({ token: ADMIN_TOKEN }),
    redirect: 'manual',
  });
  const [session] = await db.query<{ id: number }>(
    'select id from console_sessions order by id desc limit 1',
  );
  if (!session) throw new Error('nobody has signed in');
  return session.id;
}

async function requestErasure({ tallyhook }: SandboxConsole): Promise<number> {
  const subjects = [{ kind: 'order', id: EXAMPLE_ORDER }];
  const request = { subjects, reason: HOSTILE, confirm: true };
  return (await createApi(tallyhook).post('/api/v1/erasures', request)).body.number;
}

async function planErasure(viewer: PageViewer): Promise<string> {
  const form = { kind: 'order', ids: `ord_held\n${SANDBOX_ORDER}` };
  const { location } = await viewer.post('/system/erasures/plan', form);
  const path = (location ?? '').split('?')[0] ?? '';
  await waitFor('the plan of an erasure', async () =>
    (await viewer.get(path)).html.includes('This cannot be undone.'),
  );
  return path;
}

/** Examples of `id`, by the list that it is in. */
const IDS: Readonly<Record<string, string>> = {
  payments: EXAMPLE_PAYMENT,
  refunds: 'ref_example',
  disputes: 'dp_example',
  payouts: 'po_example',
};

const EXAMPLES: Readonly<Record<string, string>> = {
  order_id: EXAMPLE_ORDER,
  payment_id: EXAMPLE_PAYMENT,
  account: 'psp.clearing',
  channel: 'log',
  month: '2026-11',
  scenario: 'webhook_lost',
};

/** The path of a page or an action with an example for each parameter. */
function examplePath(path: string, known?: Known): string {
  if (known && path === '/system/erasures/plans/{plan_id}') return known.planPath;
  const examples: Readonly<Record<string, string | number | undefined>> = {
    id: IDS[path.split('/')[1] ?? ''],
    ...EXAMPLES,
    ...(known && { session_id: known.session, erasure_number: known.erasure }),
    ...(known && path === '/payouts/{id}/retry' && { id: known.failedPayout }),
  };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(examples[name] ?? '1'),
  );
  return filled + (QUERIES[path] ?? '');
}

/** What a page needs that opens only with a choice. */
const QUERIES: Readonly<Record<string, string>> = {
  '/authorizations/confirm': `?action=cancel&hold=6540:USD:${EXAMPLE_HOLD}`,
  '/sandbox/scenarios/{scenario}': `?order=${encodeURIComponent(SANDBOX_ORDER)}`,
  '/search': '?q=nothing',
};

/** Every page; `pathOf` makes a path of each. */
export const EXAMPLE_PAGES = PAGES.map(({ path, permission }) => ({ path, permission }));

export const ACTION_PATHS = ACTIONS.map(({ path }) => ({ path: examplePath(path) }));
