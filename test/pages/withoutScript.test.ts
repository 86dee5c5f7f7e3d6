/**
 * Every page and every action of the console in a browser that runs no script: a person opens the page,
 * fills in its form and sends it, and the ledger or the service has what was done.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncAlerts } from '../../src/alerts/syncAlerts.ts';
import { actionHref } from '../../src/pages/links.ts';
import { ACTIONS } from '../../src/pages/pages.ts';
import { insertRun } from '../../src/reconcile/store/runs.ts';
import { alertOf } from '../support/alerts.ts';
import { setUpAuthorizations } from '../support/authorizations.ts';
import { browserPath, startBrowser } from '../support/browser.ts';
import { unique } from '../support/events.ts';
import { applyEach, receive, testApplier } from '../support/ledger.ts';
import {
  addConsoleExamples,
  addExamples,
  EXAMPLE_PAGES,
  type Examples,
} from '../support/pageExamples.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent, refundEvent } from '../support/payments.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import { ADMIN_TOKEN } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let examples: Examples;
  let browser: Browser;
  let page: Page;
  /** Prepares what an action needs. */
  let viewer: PageViewer;
  const url = (path: string) => `http://127.0.0.1:${all.tallyhook.consolePort}${path}`;

  beforeAll(async () => {
    all = await startSandboxConsole();
    await addExamples(all.db);
    examples = await addConsoleExamples(all);
    viewer = await openPages(all.tallyhook);
    browser = await startBrowser();
    const context = await browser.newContext({ javaScriptEnabled: false });
    page = await context.newPage();
    await page.goto(url('/'));
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  /** `true` checks a box. */
  type Fields = Readonly<Record<string, string | true>>;

  async function fill(form: Locator, fields: Fields): Promise<void> {
    for (const [name, value] of Object.entries(fields)) {
      const field = form.locator(`[name="${name}"]`);
      if (value === true) await field.check();
      else if ((await form.locator(`select[name="${name}"]`).count()) > 0) {
        await field.selectOption(value);
      } else await field.fill(value);
    }
  }

  /** Opens what a form is folded into. */
  async function unfold(form: Locator): Promise<void> {
    const folded = form.locator('xpath=ancestor::details[not(@open)]');
    if ((await folded.count()) > 0) await folded.locator('summary').first().click();
  }

  /** Opens a page, fills in the form of an action and sends it. */
  async function submit(at: string, action: string, fields: Fields = {}): Promise<void> {
    await page.goto(url(at));
    const form = page.locator(`form[method="post"][action="${action}"]`).first();
    await unfold(form);
    await fill(form, fields);
    await form.locator('button[type="submit"]').click();
  }

  /** The notice above the page to which an action leads. */
  async function expectNotice(text: RegExp): Promise<void> {
    const notice = page.getByRole('status').filter({ hasText: text });
    await notice.waitFor({ timeout: 20_000 }).catch(async () => {
      throw new Error(
        `no notice ${text} on ${page.url()}: ${await page.locator('main').textContent()}`,
      );
    });
  }

  const reason = 'walked without a script';

  async function refreshed(kind: string, id: string): Promise<string> {
    await viewer.post(`/resources/${kind}/${id}/refresh`, {});
    return id;
  }

  async function payment(fields: object = {}): Promise<{ id: string; orderId: string }> {
    const orderId = unique('walk');
    const request = cardPayment({ metadata: { order_id: orderId }, ...fields });
    const { body } = await all.sandbox.call('POST', '/payments', request);
    return { id: await refreshed('payment', body.payment_id), orderId };
  }

  async function dispute(): Promise<string> {
    const { id } = await payment();
    const opened = { payment_id: id, amount: 5400, reason_code: '13.1' };
    const { body } = await all.sandbox.call('POST', '/_sandbox/disputes', opened);
    return refreshed('dispute', body.dispute_id);
  }

  async function payout(): Promise<string> {
    const stored = { payout_type: 'bank', payout_method_id: 'pm_stored' };
    const request = { amount: 2500, currency: 'EUR', confirm: true, ...stored };
    const { body } = await all.sandbox.call('POST', '/payouts/create', request);
    return refreshed('payout', body.payout_id);
  }

  const stateOf = async (path: string) => (await all.sandbox.call('GET', path)).body.status;

  async function alert(): Promise<number> {
    const subject = `payment:${unique('pay')}`;
    const active = [alertOf({ rule: 'authorization_expiring', subject, severity: 'warning' })];
    const synced = [{ subject, rules: ['authorization_expiring' as const], active }];
    await all.db.transaction((tx) => syncAlerts(tx, synced));
    return newest('alerts');
  }

  async function finding(): Promise<number> {
    const paymentId = unique('pay');
    await applyEach(all.db, testApplier(all.db), [
      paymentEvent({ payment_id: paymentId }),
      refundEvent(paymentId, { amount: 900_000 }),
    ]);
    return newest('findings');
  }

  async function deadEvent(): Promise<number> {
    const [id = 0] = await receive(all.db, [paymentEvent({})]);
    await testApplier(all.db).markDead(id, 5, 'connection reset');
    return id;
  }

  async function newest(table: 'alerts' | 'findings'): Promise<number> {
    const [row] = await all.db.query<{ id: number }>(`select max(id)::int as id from ${table}`);
    return row?.id ?? 0;
  }

  async function capturedOrReleased(button: string): Promise<string> {
    const { id } = await payment({ capture_method: 'manual' });
    await (await setUpAuthorizations(all.sandbox, all.db)).check.run();
    await page.goto(url('/authorizations'));
    await page.locator(`input[name="hold"][value*="${id}"]`).check();
    await page.getByRole('button', { name: `${button} the selected` }).click();
    await page.getByLabel('Reason').fill(reason);
    await page.locator('input[name="confirmed"]').check();
    await page.getByRole('button', { name: button, exact: true }).click();
    await expectNotice(/./);
    return stateOf(`/payments/${id}`);
  }

  const locationOf = async (path: string, fields: Readonly<Record<string, string>>) => {
    const { status, location, html } = await viewer.post(path, fields);
    if (status !== 303 || location === null) throw new Error(`${path}: ${status} ${html}`);
    return location.replace(/[?&]notice=.*/, '');
  };

  const STEPS: Readonly<Record<string, () => Promise<void>>> = {
    '/sessions/{session_id}/end': async () => {
      await openPages(all.tallyhook);
      await page.goto(url('/sessions'));
      const link = page.locator('main a[href^="/sessions/"]').first();
      const href = (await link.getAttribute('href')) ?? '';
      await submit(href, `${href}/end`, { reason });
      await expectNotice(/has ended/);
    },
    '/orders/{order_key}/expectation': async () => {
      const { orderId } = await payment();
      const action = actionHref('/orders/{order_key}/expectation', {
        order_key: `order:${orderId}`,
      });
      await submit(`/orders/${orderId}`, action, { amount: '1.00', currency: 'USD' });
      await expectNotice(/1\.00 USD/);
    },
    '/orders/{order_key}/refresh': async () => {
      const { orderId } = await payment();
      const action = actionHref('/orders/{order_key}/refresh', { order_key: `order:${orderId}` });
      await submit(`/orders/${orderId}`, action);
      await expectNotice(/./);
    },
    '/orders/{order_key}/replay': async () => {
      const action = actionHref('/orders/{order_key}/replay', { order_key: 'order:ord_plain' });
      await submit('/orders/ord_plain', action);
      await expectNotice(/replayed|again/i);
    },
    '/authorizations/capture': async () => {
      expect(await capturedOrReleased('Capture')).toBe('succeeded');
    },
    '/authorizations/cancel': async () => {
      expect(await capturedOrReleased('Release')).toBe('cancelled');
    },
    '/reconciliation/start': async () => {
      await submit('/reconciliation', '/reconciliation/start', { stream: 'refunds' });
      await expectNotice(/enqueued/);
    },
    '/reconciliation/{run_number}/stop': async () => {
      const { id } = await insertRun(all.db, {
        stream: 'payments',
        mode: 'full',
        cause: 'operator',
        isDryRun: false,
        fromAt: new Date('2026-11-01T00:00:00Z'),
        toAt: new Date('2026-11-02T00:00:00Z'),
      });
      await submit(`/reconciliation/${id}`, `/reconciliation/${id}/stop`);
      await expectNotice(/stopped/);
    },
    '/reconciliation/pause': async () => {
      await submit('/reconciliation', '/reconciliation/pause', { reason });
      await expectNotice(/paused/);
      await viewer.post('/reconciliation/resume', {});
    },
    '/reconciliation/resume': async () => {
      await viewer.post('/reconciliation/pause', { reason });
      await submit('/reconciliation', '/reconciliation/resume');
      await expectNotice(/sent again/);
    },
    '/inbox/{event}/replay': async () => {
      const event = await deadEvent();
      await submit(`/inbox/${event}`, `/inbox/${event}/replay`);
      await expectNotice(/replayed|again/i);
    },
    '/inbox/{event}/discard': async () => {
      const event = await deadEvent();
      await submit(`/inbox/${event}`, `/inbox/${event}/discard`, { reason });
      await expectNotice(/discarded/);
    },
    '/replays/start': async () => {
      await deadEvent();
      await submit('/replays/new?state=dead', '/replays/start', { reason, confirmed: true });
      await expectNotice(/begins within seconds/);
    },
    '/replays/{replay_number}/stop': async () => {
      await deadEvent();
      const form = { state: 'dead', reason, confirmed: 'yes' };
      const at = await locationOf('/replays/start', form);
      await submit(at, `${at}/stop`);
      await expectNotice(/is stopped/);
    },
    '/ledger/statements/{month}/close': async () => {
      const month = '/ledger/statements/2024-01';
      await submit(`${month}/closing`, `${month}/close`, { reason, with_exceptions: true });
      await expectNotice(/2024-01 is closed/);
      await viewer.post(`${month}/reopen`, { reason });
    },
    '/ledger/statements/{month}/reopen': async () => {
      const month = '/ledger/statements/2024-01';
      await viewer.post(`${month}/close`, { time_zone: 'UTC', reason, with_exceptions: 'yes' });
      await submit(`${month}/closing`, `${month}/reopen`, { reason });
      await expectNotice(/2024-01 is open again/);
    },
    '/findings/{finding_number}/accept': async () => {
      const number = await finding();
      await submit(`/findings/${number}`, `/findings/${number}/accept`, { reason });
      await expectNotice(/is accepted/);
    },
    '/findings/accept': async () => {
      const number = await finding();
      await page.goto(url('/findings'));
      await page.locator(`input[name="finding"][value="${number}"]`).check();
      await page.getByRole('button', { name: 'Accept the checked findings' }).click();
      const form = page.locator('form[action="/findings/accept"][method="post"]');
      await fill(form, { reason, confirmed: true });
      await form.getByRole('button', { name: 'Accept' }).click();
      await expectNotice(/1 finding accepted/);
    },
    '/alerts/{alert_number}/acknowledge': async () => {
      const number = await alert();
      await submit(`/alerts/${number}`, `/alerts/${number}/acknowledge`, { reason });
      await expectNotice(/acknowledged/);
    },
    '/alerts/{alert_number}/snooze': async () => {
      const number = await alert();
      await submit(`/alerts/${number}`, `/alerts/${number}/snooze`, { for: '1d', reason });
      await expectNotice(/snoozed/);
    },
    '/alerts/{alert_number}/assign': async () => {
      const number = await alert();
      await submit(`/alerts/${number}`, `/alerts/${number}/assign`, { to: 'ada', reason });
      await expectNotice(/assigned/);
    },
    '/alerts/handle': async () => {
      const numbers = [await alert(), await alert()];
      await page.goto(url('/alerts'));
      for (const number of numbers) {
        await page.locator(`input[name="alert"][value="${number}"]`).check();
      }
      const form = page.locator('form[action="/alerts/handle"]');
      await fill(form, { reason });
      await form.getByRole('button', { name: 'Acknowledge' }).click();
      await expectNotice(/2 alerts are acknowledged/);
    },
    '/alerts/channels/{channel}/test': async () => {
      await submit('/alerts/channels', '/alerts/channels/log/test');
      await expectNotice(/accepted the test message/);
    },
    '/messages/{message_number}/resend': async () => {
      await submit('/messages/1', '/messages/1/resend', { reason });
      await expectNotice(/sent again/);
    },
    '/resources/{kind}/{id}/refresh': async () => {
      const { id } = await payment();
      await submit(`/payments/${id}`, `/resources/payment/${id}/refresh`);
      await expectNotice(/Retrieved/);
    },
    '/payments/{payment_id}/refund': async () => {
      const { id } = await payment();
      await submit(`/payments/${id}`, `/payments/${id}/refund`, { amount: '1.00', reason });
      await expectNotice(/took the refund of 1\.00 USD/);
      const { body } = await all.sandbox.call('POST', '/refunds/list', { payment_id: id });
      expect(body.data).toMatchObject([{ amount: 100 }]);
    },
    '/system/check': async () => {
      await submit('/system', '/system/check');
      await expectNotice(/run again/);
    },
    '/system/schedule/run': async () => {
      await submit('/system/schedule', '/system/schedule/run', { reason });
      await expectNotice(/is requested/);
    },
    '/system/erasures/plan': async () => {
      const { orderId } = await payment();
      const action = '/system/erasures/plan';
      await submit('/system/erasures', action, { kind: 'order', ids: orderId });
      await page.waitForURL(/\/system\/erasures\/plans\//);
    },
    '/system/erasures/plans/{plan_id}/erase': async () => {
      const { orderId } = await payment();
      const form = { kind: 'order', ids: orderId };
      const at = await locationOf('/system/erasures/plan', form);
      await waitFor('the plan', async () => (await viewer.get(at)).html.includes('name="confirm"'));
      await submit(at, `${at}/erase`, { reason, confirm: true });
      await expectNotice(/Requested/);
    },
    '/system/tokens/create': async () => {
      await submit('/system/tokens', '/system/tokens/create', {
        name: unique('walk'),
        role: 'viewer',
      });
      await page.getByText('Copy it now').waitFor();
    },
    '/system/tokens/{name}/revoke': async () => {
      const name = unique('walk');
      await viewer.post('/system/tokens/create', { name, role: 'viewer' });
      await submit('/system/tokens', `/system/tokens/${name}/revoke`, { confirm: true });
      await expectNotice(/is revoked/);
    },
    '/sandbox/scenarios/{scenario}': async () => {
      await submit('/sandbox', '/sandbox/scenarios/webhook_lost');
      await expectNotice(/Played/);
    },
    '/sandbox/payments': async () => {
      await submit('/sandbox', '/sandbox/payments', { amount: '12.00' });
      await expectNotice(/is placed/);
    },
    '/sandbox/payouts': async () => {
      await submit('/sandbox', '/sandbox/payouts', { amount: '12.00' });
      await expectNotice(/is sent/);
    },
    '/sandbox/resources/{kind}/{id}': async () => {
      await payment({ capture_method: 'manual' });
      await page.goto(url('/sandbox'));
      const form = page.locator('form[action^="/sandbox/resources/"]').first();
      await unfold(form);
      await form.getByRole('button', { name: 'Do it' }).click();
      await expectNotice(/done for/);
    },
    '/sandbox/faults': async () => {
      await page.goto(url('/sandbox'));
      const form = page.locator('form[action="/sandbox/faults"]');
      await unfold(form);
      await form.locator('select').first().selectOption({ index: 1 });
      await form.getByRole('button', { name: 'Set the faults' }).click();
      await expectNotice(/are set/);
      await viewer.post('/sandbox/faults/end', {});
    },
    '/sandbox/faults/end': async () => {
      await all.sandbox.control('PUT', '/faults', { webhooks: { duplicate: 0.1 } });
      await submit('/sandbox', '/sandbox/faults/end');
      await expectNotice(/have ended/);
    },
    '/disputes/{dispute_id}/accept': async () => {
      const id = await dispute();
      await submit(`/disputes/${id}`, `/disputes/${id}/accept`, { amount: '54.00', reason });
      await expectNotice(/Accepted/);
      const { body } = await all.sandbox.call('GET', `/disputes/${id}`);
      expect(body.dispute_status).toMatch(/accepted|lost/);
    },
    '/disputes/{dispute_id}/evidence': async () => {
      const id = await dispute();
      const fields = { shipping_carrier: 'DHL', reason };
      await submit(`/disputes/${id}/evidence`, `/disputes/${id}/evidence`, fields);
      await expectNotice(/Submitted/);
    },
    '/disputes/{dispute_id}/files': async () => {
      const id = await dispute();
      await page.goto(url(`/disputes/${id}/evidence`));
      const form = page.locator(`form[action="/disputes/${id}/files"]`);
      const buffer = Buffer.from('%PDF-1.7 proof of delivery');
      const file = { name: 'proof.pdf', mimeType: 'application/pdf', buffer };
      await form.locator('[name="file"]').setInputFiles(file);
      await form.getByRole('button', { name: 'Upload' }).click();
      await expectNotice(/Uploaded/);
    },
    '/payouts/{payout_id}/retry': async () => {
      const id = await payout();
      await all.sandbox.call('POST', `/_sandbox/payouts/${id}/move`, { status: 'failed' });
      await refreshed('payout', id);
      await submit(`/payouts/${id}/retry`, `/payouts/${id}/retry`, { amount: '25.00', reason });
      await expectNotice(/Paid again/);
    },
    '/payouts/{payout_id}/cancel': async () => {
      const id = await payout();
      await submit(`/payouts/${id}`, `/payouts/${id}/cancel`, { reason });
      await expectNotice(/Cancelled/);
      expect(await stateOf(`/payouts/${id}`)).toBe('cancelled');
    },
    '/payouts/{payout_id}/fulfill': async () => {
      const id = await payout();
      await submit(`/payouts/${id}`, `/payouts/${id}/fulfill`, { amount: '25.00', reason });
      await expectNotice(/sends the money/);
      expect(await stateOf(`/payouts/${id}`)).not.toBe('requires_fulfillment');
    },
    // The clock of the service runs ahead from here on.
    '/sandbox/reconcile': async () => {
      const at = await locationOf('/sandbox/scenarios/webhook_lost', {});
      await submit(at, '/sandbox/reconcile');
      await expectNotice(/enqueued/);
    },
    '/sandbox/clock': async () => {
      await submit('/sandbox', '/sandbox/clock');
      await expectNotice(/has moved/);
    },
    // The last one: nobody is signed in after it.
    '/account/sign-out-everywhere': async () => {
      await submit('/account', '/account/sign-out-everywhere');
      await page.getByLabel('Token').waitFor();
    },
  };

  test.each(EXAMPLE_PAGES)('the page opens, and its filters work: $path', async (example) => {
    const path = examples.pathOf(example.path);
    const opened = await page.goto(url(path));
    expect(opened?.status()).toBe(200);
    await page.locator('h1').waitFor();
    const filters = page.locator('main form[method="get"]');
    const count = await filters.count();
    for (let place = 0; place < count; place += 1) {
      await page.goto(url(path));
      const button = filters.nth(place).locator('button[type="submit"]').first();
      // An empty list has nothing to choose from.
      if ((await button.count()) === 0) continue;
      const [response] = await Promise.all([
        page.waitForResponse((one) => one.request().isNavigationRequest()),
        button.click(),
      ]);
      // Where a choice is needed and none was made, the page states it.
      expect([200, 400], response.url()).toContain(response.status());
      await page.locator('h1').waitFor();
    }
  });

  test('each action has its walk', () => {
    expect(Object.keys(STEPS).toSorted()).toEqual(ACTIONS.map(({ path }) => path).toSorted());
  });

  test.each(Object.entries(STEPS))('the action is carried out: POST %s', async (_path, walk) => {
    await walk();
  });
});
