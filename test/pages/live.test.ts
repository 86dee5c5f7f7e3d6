/** Pages that follow the ledger while they are open, over HTTP and in a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browserPath, openTab, startBrowser } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { unique } from '../support/events.ts';
import { applyEach, testApplier } from '../support/ledger.ts';
import { formTokenIn, openPages, type PageViewer } from '../support/pages.ts';
import { paymentEvent } from '../support/payments.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';

let db: TestDatabase;
let tallyhook: TestTallyhook;

beforeAll(async () => {
  db = await createTestDatabase();
  tallyhook = await startTallyhook({ db, roles: ['console'] });
});
afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

const pay = async (orderId: string): Promise<void> => {
  await applyEach(db, testApplier(db), [paymentEvent({ orderId })]);
};

describe('over HTTP', () => {
  const placeIn = (html: string): string => {
    const [, place] = /data-live-place="([^"]+)"/.exec(html) ?? [];
    if (place === undefined) throw new Error('the page follows nothing');
    return place;
  };
  const followed = async (viewer: PageViewer, topics: readonly string[], place: string) => {
    const query = new URLSearchParams(topics.map((topic) => ['topic', topic]));
    query.set('place', place);
    const { status, html } = await viewer.get(`/live?${query}`);
    return { status, news: html };
  };
  const live = (viewer: PageViewer, path: string) => viewer.get(path, { 'x-live': '1' });

  test('a change of an order moves its topic and the list, and not another order', async () => {
    const viewer = await openPages(tallyhook);
    const [orderId, other] = [unique('ord'), unique('ord')];
    await pay(orderId);
    await pay(other);
    const topics = [`order:order:${orderId}`, 'ledger'];
    // The first question makes the topics known.
    await followed(
      viewer,
      [...topics, `order:order:${other}`],
      placeIn((await viewer.get('/')).html),
    );
    const place = placeIn((await live(viewer, '/orders')).html);
    await pay(orderId);
    for (const topic of topics) {
      expect(await followed(viewer, [topic], place)).toEqual({
        status: 200,
        news: '{"outcome":"moved"}',
      });
    }
    const none = followed(viewer, [`order:order:${other}`], place).then(() => 'responded');
    await followed(viewer, ['ledger'], place);
    expect(await Promise.race([none, Promise.resolve('waits')])).toBe('waits');
  });

  test('a place of another process counts as moved', async () => {
    const viewer = await openPages(tallyhook);
    expect((await followed(viewer, ['ledger'], 'other.999')).news).toBe('{"outcome":"moved"}');
  });

  test('viewers share a fragment, and each gets the form token of their own session', async () => {
    const [one, two] = [await openPages(tallyhook), await openPages(tallyhook)];
    const orderId = unique('ord');
    await pay(orderId);
    const path = `/orders/${orderId}`;
    await followed(one, ['ledger'], placeIn((await one.get(path)).html));
    const tokens: string[] = [];
    for (const viewer of [one, two, one]) {
      const { html } = await live(viewer, path);
      tokens.push(formTokenIn(html));
      expect(html).not.toContain('form-token-');
      expect(formTokenIn((await viewer.get(path)).html)).toBe(tokens.at(-1));
    }
    expect(tokens[0]).toBe(tokens[2]);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test('needs a session, and a topic that exists', async () => {
    const signedOut = await openPages(tallyhook, null);
    expect((await followed(signedOut, ['ledger'], '')).status).toBe(303);
    const viewer = await openPages(tallyhook);
    expect((await followed(viewer, ['nothing'], '')).status).toBe(400);
  });

  test.each(['order:\0', 'payment:pay_\0'])(
    'a topic that PostgreSQL cannot store is refused, and other pages go on: %j',
    async (topic) => {
      const [viewer, other] = [await openPages(tallyhook), await openPages(tallyhook)];
      expect((await followed(other, [topic], 'x')).status).toBe(400);
      // A topic that nobody watched yet makes the watcher read.
      const orderId = unique('ord');
      const place = placeIn((await viewer.get('/')).html);
      await pay(orderId);
      expect((await followed(viewer, [`order:order:${orderId}`], place)).status).toBe(200);
    },
  );
});

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const url = (path: string) => `http://127.0.0.1:${tallyhook.consolePort}${path}`;

  const signIn = async (signedOut: Page): Promise<void> => {
    await signedOut.goto(url('/'));
    await signedOut.getByLabel('Token').fill(ADMIN_TOKEN);
    await signedOut.getByRole('button', { name: 'Sign in' }).click();
    await signedOut.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  };

  beforeAll(async () => {
    browser = await startBrowser();
    context = await browser.newContext();
    page = await openTab(context);
    await signIn(page);
  });
  afterAll(() => browser.close());

  test('a payment appears on an open list, which keeps its focus and stays in its place', async () => {
    const orderIds = Array.from({ length: 40 }, () => unique('ord'));
    for (const orderId of orderIds) await pay(orderId);
    await page.goto(url('/orders'));
    await page.evaluate('window.isSamePage = true');
    const watched = page.getByRole('link', { name: orderIds[10] ?? '', exact: true });
    await watched.focus();
    await page.evaluate(`getSelection().selectAllChildren(document.activeElement)`);
    const before = await watched.boundingBox();
    const orderId = unique('ord');
    await pay(orderId);
    await page.getByRole('link', { name: orderId, exact: true }).waitFor({ state: 'attached' });
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    expect(await page.evaluate('document.activeElement.textContent')).toBe(orderIds[10]);
    expect(await page.evaluate('getSelection().toString()')).toBe(orderIds[10]);
    const moved = ((await watched.boundingBox())?.y ?? Number.NaN) - (before?.y ?? 0);
    expect(Math.abs(moved)).toBeLessThan(2);
  });

  test('a hidden tab does not poll, and follows again once it is seen', async () => {
    const hidden = await openTab(context);
    const show = (state: 'hidden' | 'visible') =>
      hidden.evaluate(`{
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }`);
    const polled = hidden.waitForRequest((request) => new URL(request.url()).pathname === '/live');
    await hidden.goto(url('/orders'));
    await polled;
    await show('hidden');
    const requests: string[] = [];
    hidden.on('request', (request) => requests.push(request.url()));
    await page.goto(url('/orders'));
    // A tab in view follows two changes meanwhile.
    for (const orderId of [unique('ord'), unique('ord')]) {
      await pay(orderId);
      await page.getByRole('link', { name: orderId, exact: true }).waitFor();
    }
    expect(requests).toEqual([]);
    const orderId = unique('ord');
    await pay(orderId);
    await show('visible');
    await hidden.getByRole('link', { name: orderId, exact: true }).waitFor();
    await hidden.close();
  });

  test('input in a form is kept, and the page follows again once it is gone', async () => {
    await page.goto(url('/orders'));
    await page.evaluate('window.isSamePage = true');
    const currency = page.getByLabel('Currency');
    await currency.fill('EU');
    const orderId = unique('ord');
    await pay(orderId);
    await page.getByText('Updates wait while a form has input.').waitFor();
    expect(await page.getByRole('link', { name: orderId, exact: true }).count()).toBe(0);
    expect(await currency.inputValue()).toBe('EU');
    await currency.fill('');
    await currency.blur();
    await page.getByRole('link', { name: orderId, exact: true }).waitFor();
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });

  test('an open page survives a restart of the server, and names the zone of the time since which it waits', async () => {
    await page.goto(url('/orders'));
    await page.evaluate('window.isSamePage = true');
    const port = tallyhook.consolePort;
    await tallyhook.close();
    await page.getByText(/^Not live since .* [A-Z]{3}\S*\. Trying again\.$/).waitFor();
    const orderId = unique('ord');
    await pay(orderId);
    tallyhook = await startTallyhook({ db, roles: ['console'], env: { ADMIN_PORT: String(port) } });
    await page.getByRole('link', { name: orderId, exact: true }).waitFor();
    await page.getByText('Not live since').waitFor({ state: 'detached' });
    expect(await page.evaluate('window.isSamePage')).toBe(true);
  });

  test('a page tries again when a proxy limits the rate of its requests', async () => {
    const own = await openTab(context);
    await own.goto(url('/orders'));
    await own.evaluate('window.isSamePage = true');
    await own.route(/\/live\?/, (route) => route.fulfill({ status: 429 }));
    await pay(unique('ord'));
    await own.getByText('Not live since').waitFor();
    await own.unroute(/\/live\?/);
    const orderId = unique('ord');
    await pay(orderId);
    await own.getByRole('link', { name: orderId, exact: true }).waitFor();
    expect(await own.evaluate('window.isSamePage')).toBe(true);
    await own.close();
  });

  test('a page that gets no response for a minute is not called live', async () => {
    const own = await openTab(context);
    await own.clock.install();
    await own.goto(url('/orders'));
    await own.locator('#live-mark').waitFor();
    // After the computer slept, a connection may have neither a response nor an error.
    await own.route(/\/live\?/, () => undefined);
    const polled = own.waitForRequest(/\/live\?/);
    await pay(unique('ord'));
    await polled;
    await own.clock.fastForward(60_000);
    await own.getByText('Not live since').waitFor();
    expect(await own.locator('#live-mark').isVisible()).toBe(false);
    await own.unroute(/\/live\?/);
    const orderId = unique('ord');
    await pay(orderId);
    await own.clock.fastForward(30_000);
    await own.getByRole('link', { name: orderId, exact: true }).waitFor();
    await own.locator('#live-mark').waitFor();
    await own.close();
  });

  test('a page with the style and script of an earlier version goes on, and states that it is to be reloaded', async () => {
    const own = await openTab(context);
    await own.goto(url('/orders'));
    const updated = own.getByText('Tallyhook was updated. Reload this page.');
    const orders = (one: URL) => one.pathname === '/orders';
    await own.route(orders, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/console-[0-9a-f]{16}\.js/g, 'console-new.js');
      await route.fulfill({ response, body });
    });
    const orderId = unique('ord');
    await pay(orderId);
    await own.getByRole('link', { name: orderId, exact: true }).waitFor();
    await updated.waitFor();
    await own.unroute(orders);
    const polled = own.waitForRequest(/\/live\?/);
    await own.reload();
    await polled;
    const next = unique('ord');
    await pay(next);
    await own.getByRole('link', { name: next, exact: true }).waitFor();
    expect(await updated.count()).toBe(0);
    await own.close();
  });

  test('a page that keeps input in place of updates learns that its session has ended', async () => {
    // A session of its own: the other tab is signed in until the next test.
    const viewer = await browser.newContext();
    const own = await openTab(viewer);
    await signIn(own);
    await own.goto(url('/orders'));
    await own.getByLabel('Currency').fill('EU');
    await pay(unique('ord'));
    await own.getByText('Updates wait while a form has input.').waitFor();
    await db.query(
      `update console_sessions set ended_at = now()
        where id = (select max(id) from console_sessions)`,
    );
    await own.getByText('Your session has ended.').waitFor();
    expect(await own.getByLabel('Currency').inputValue()).toBe('EU');
    await viewer.close();
  });

  test('an open page leads to the sign-in when its session ends, and back', async () => {
    await page.goto(url('/orders?status=paid'));
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    await db.query('update console_sessions set ended_at = now()', []);
    await pay(unique('ord'));
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
    expect(page.url()).toBe(url('/orders?status=paid'));
  });

  test('the response to a sign-out is shown, also to a page that learns of the ended session first', async () => {
    await page.goto(url('/orders?status=paid'));
    const learned = page.waitForEvent(
      'requestfailed',
      (request) => request.resourceType() === 'fetch',
    );
    await page.route('**/sign-out', async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      await pay(unique('ord'));
      await learned;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(page.url()).toBe(url('/sign-in'));
    await page.unroute('**/sign-out');
  });
});
