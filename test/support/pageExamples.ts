/** A ledger with something for every page to show, and the paths of all pages over it. */

import { startReplayAs } from '../../src/actions/replayRuns.ts';
import { readAlertRows } from '../../src/alerts/store/alertRows.ts';
import { readFindingRows } from '../../src/ledger/read/store/findings.ts';
import { readMessageRows } from '../../src/notify/store/messageRows.ts';
import type { Page, PageAction } from '../../src/pages/page.ts';
import { ACTIONS, PAGES } from '../../src/pages/pages.ts';
import { insertRun, readRun } from '../../src/reconcile/store/runs.ts';
import type { TestDatabase } from './database.ts';
import { applyEach, testApplier } from './ledger.ts';
import { createTestNotifier } from './notifier.ts';
import { disputeEvent, paymentEvent, payoutEvent, refundEvent } from './payments.ts';

/** What a sender may put into any text: it must be shown as it is, and run nowhere. */
const HOSTILE = `"'><script>window.hostile=1</script><img src=x onerror=window.hostile=1>&amp;`;

const EXAMPLE_ORDER = `ord ${HOSTILE}`;
const EXAMPLE_PAYMENT = 'pay_example';
const EXAMPLE_HOLD = 'pay_held';

/** Applies events with hostile text wherever a sender may put text. */
export async function addExamples(db: TestDatabase): Promise<void> {
  await applyEach(db, testApplier(db), [
    paymentEvent({
      payment_id: EXAMPLE_PAYMENT,
      payout_id: 'po_example',
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
  const below = 2;
  const page = { below, limit: 1 };
  const found = [
    await readAlertRows(db, { ...page, states: undefined, severity: undefined, rule: undefined }),
    await readFindingRows(db, {
      ...page,
      state: undefined,
      findingClass: undefined,
      subject: undefined,
    }),
    await readMessageRows(db, { ...page, state: undefined, channel: undefined, kind: undefined }),
    [await readRun(db, 1)].filter(Boolean),
  ];
  const missing = ['alert', 'finding', 'message', 'run'].filter(
    (_, place) => !found[place]?.length,
  );
  if (missing.length > 0) throw new Error(`there is no number 1 of: ${missing.join(', ')}`);
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
};

/** The path of a page or an action with an example for each parameter. */
function examplePath({ path }: Pick<Page | PageAction, 'path'>): string {
  const id = IDS[path.split('/')[1] ?? ''];
  return path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent((name === 'id' ? id : EXAMPLES[name]) ?? '1'),
  );
}

/** What a page needs that opens only with a choice. */
const QUERIES: Readonly<Record<string, string>> = {
  '/authorizations/confirm': `?action=cancel&hold=6540:USD:${EXAMPLE_HOLD}`,
  '/search': '?q=nothing',
};

export const PAGE_PATHS = PAGES.map((page) => ({
  path: examplePath(page) + (QUERIES[page.path] ?? ''),
  permission: page.permission,
}));

export const ACTION_PATHS = ACTIONS.map((action) => ({
  path: examplePath(action),
  permission: action.permission,
}));
