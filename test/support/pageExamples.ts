/** A ledger with something for every page to show, and the paths of all pages over it. */
import type { Page, PageAction } from '../../src/pages/page.ts';
import { ACTIONS, PAGES } from '../../src/pages/pages.ts';
import type { TestDatabase } from './database.ts';
import { applyEach, testApplier } from './ledger.ts';
import { disputeEvent, paymentEvent, refundEvent } from './payments.ts';

/** What a sender may put into any text: it must be shown as it is, and run nowhere. */
const HOSTILE = `"'><script>window.hostile=1</script><img src=x onerror=window.hostile=1>&amp;`;

const EXAMPLE_ORDER = `ord ${HOSTILE}`;
const EXAMPLE_PAYMENT = 'pay_example';

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
    refundEvent(EXAMPLE_PAYMENT, { amount: 1500, reason: HOSTILE }),
    disputeEvent(EXAMPLE_PAYMENT, { amount: '2000', connector_reason: HOSTILE }),
  ]);
}

const EXAMPLES: Readonly<Record<string, string>> = {
  order_id: EXAMPLE_ORDER,
  payment_id: EXAMPLE_PAYMENT,
  account: 'psp.clearing',
};

/** The path of a page or an action with an example for each parameter. */
function examplePath({ path }: Pick<Page | PageAction, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(EXAMPLES[name] ?? '1'),
  );
}

/** What a page needs that opens only with a choice. */
const QUERIES: Readonly<Record<string, string>> = {
  '/authorizations/confirm': `?action=cancel&hold=6540:USD:${EXAMPLE_PAYMENT}`,
};

export const PAGE_PATHS = PAGES.map((page) => ({
  path: examplePath(page) + (QUERIES[page.path] ?? ''),
  permission: page.permission,
}));

export const ACTION_PATHS = ACTIONS.map((action) => ({
  path: examplePath(action),
  permission: action.permission,
}));
