/**
 * Every page and every action of the console in a browser that runs no script. The first role that has an action
 * carries it out as a person does: it opens the page, fills in its form and sends it. Every other role that has
 * it sends the form that its own page has. The notice, the effect and the entries of the audit log are there.
 * The other roles do not see its control, and are refused if they send its form anyway.
 */
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permits, ROLES, type Role } from '../../src/access/domain/roles.ts';
import { ACTIONS } from '../../src/pages/pages.ts';
import { createActionWalks, REASON, type Walk } from '../support/actionWalks.ts';
import { browserPath, openTab, startBrowser } from '../support/browser.ts';
import { PROOF, sendForm, textsOf } from '../support/filledForm.ts';
import {
  addConsoleExamples,
  addExamples,
  EXAMPLE_PAGES,
  type Examples,
} from '../support/pageExamples.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

/** Someone who is signed in. */
interface Person {
  readonly role: Role;
  readonly viewer: PageViewer;
}

/** Runs in the browser: the forms of the open page that filter, and where their buttons lead. */
const FILTERS = `[...document.querySelectorAll('main form[method="get"]')].flatMap((form) => {
  const button = form.querySelector('button[type="submit"]');
  // An empty list has nothing to choose from.
  if (!button) return [];
  const canBeSent = button.checkVisibility() && !button.disabled && form.checkValidity();
  const query = new URLSearchParams(new FormData(form, button));
  return [{ canBeSent, to: (form.getAttribute('action') ?? location.pathname) + '?' + query }];
})`;

interface Filter {
  readonly canBeSent: boolean;
  readonly to: string;
}

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let examples: Examples;
  let browser: Browser;
  let people: readonly Person[];
  let admin: Person;
  let context: BrowserContext;
  /** Runs no script. */
  let page: Page;
  /** Parses HTML. */
  let parser: Page;
  let walks: ReturnType<typeof createActionWalks>;
  const url = (path: string) => `http://127.0.0.1:${all.tallyhook.consolePort}${path}`;

  beforeAll(async () => {
    all = await startSandboxConsole();
    await addExamples(all.db);
    examples = await addConsoleExamples(all);
    walks = createActionWalks(all, await openPages(all.tallyhook));
    browser = await startBrowser();
    context = await browser.newContext({ javaScriptEnabled: false });
    page = await openTab(context);
    parser = await openTab(browser);
    const tokens = await createTokensOfEveryKind(all.db);
    people = await Promise.all(
      ROLES.map(async (role) => ({
        role,
        viewer: await openPages(all.tallyhook, tokens.get(role)),
      })),
    );
    const found = people.find(({ role }) => role === 'admin');
    if (!found) throw new Error('nobody is an administrator');
    admin = found;
    await openAs(admin, '/');
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  /** Opens a page in the browser, in the session of a person. */
  async function openAs({ viewer }: Person, path: string): Promise<number | undefined> {
    const [name = '', value = ''] = viewer.cookie().split('=');
    await context.clearCookies();
    await context.addCookies([{ name, value, url: url('/') }]);
    return (await page.goto(url(path)))?.status();
  }

  async function fill(form: Locator, { fields = {}, file }: Walk): Promise<void> {
    // What it is folded into.
    const folded = form.locator('xpath=ancestor::details[not(@open)]');
    if ((await folded.count()) > 0) await folded.locator('summary').first().click();
    for (const [name, value] of Object.entries(fields)) {
      const field = form.locator(`[name="${name}"]`);
      if (value === true) await field.check();
      else if ((await form.locator(`select[name="${name}"]`).count()) > 0) {
        await field.selectOption(value);
      } else await field.fill(value);
    }
    if (file === undefined) return;
    const { text, ...proof } = PROOF;
    await form.locator(`[name="${file}"]`).setInputFiles({ ...proof, buffer: Buffer.from(text) });
  }

  /** Opens the page with the form, and fills it in. */
  async function reachForm(person: Person, walk: Walk): Promise<Locator> {
    await openAs(person, walk.from?.at ?? walk.at);
    if (walk.from) {
      await page.locator(walk.from.check).check();
      await page.getByRole('button', { name: walk.from.button }).click();
    }
    const form = page.locator(`form[method="post"][action="${walk.action}"]`).first();
    for (const box of walk.check ?? []) await page.locator(box).check();
    await fill(form, walk);
    return form;
  }

  async function send(walk: Walk, form: Locator): Promise<void> {
    const button =
      walk.button === undefined
        ? form.locator('button[type="submit"]').first()
        : form.getByRole('button', { name: walk.button, exact: true });
    await button.click();
    const wanted = [
      ...(walk.notice ? [page.getByRole('status').filter({ hasText: walk.notice })] : []),
      ...(walk.shows ? [page.getByText(walk.shows)] : []),
    ];
    for (const part of wanted) {
      await part
        .first()
        .waitFor()
        .catch(async () => {
          const shown = await page.locator('main').textContent();
          throw new Error(`no ${walk.notice} or ${walk.shows} on ${page.url()}: ${shown}`);
        });
    }
  }

  /** What the audit log has of a person's actions after an entry, without refusals. */
  async function entriesOf({ role }: Person, after: number) {
    return await all.db.query<{ entry: string; result: string; reason: string | null }>(
      `select action || ' ' || subject_kind || ':' || subject_id as entry, result, reason
         from audit
        where id > $1 and actor_name = $2 and result <> 'requested' and action <> 'access.denied'
        order by id`,
      [after, `a-${role}`],
    );
  }

  async function newestEntry(): Promise<number> {
    const [row] = await all.db.query<{ id: number }>('select max(id)::int as id from audit');
    return row?.id ?? 0;
  }

  /** What the browser sends with a form that was filled in. */
  async function contentOf({ action }: Walk): Promise<Record<string, string>> {
    const entries = (await page.evaluate(
      `[...new FormData([...document.forms].find(
          (form) => form.method === 'post' && form.getAttribute('action') === ${JSON.stringify(action)},
        ))].filter(([, value]) => typeof value === 'string')`,
    )) as [string, string][];
    return Object.fromEntries(entries);
  }

  /** Whether the pages of a walk have its controls, for a person. */
  async function isOffered({ role, viewer }: Person, { action, at, from }: Walk) {
    // Without `read`, a role opens no page.
    if (!permits(role, 'read')) return false;
    const has = async (path: string, control: string) =>
      (await viewer.get(path)).html.includes(control);
    const isLeading = from !== undefined && (await has(from.at, `>${from.button}</button>`));
    return isLeading || (await has(at, `action="${action}"`));
  }

  async function expectRefused(
    person: Person,
    walk: Walk,
    content: Record<string, string>,
  ): Promise<void> {
    const { role, viewer } = person;
    expect(await isOffered(person, walk), role).toBe(false);
    const { status, html } = await viewer.post(walk.action, content);
    expect(status, role).toBe(403);
    expect(html).toContain(`Your role is ${role}`);
  }

  async function expectEntries(person: Person, walk: Walk, after: number): Promise<void> {
    const reason = walk.fields?.reason === undefined ? null : REASON;
    expect(await entriesOf(person, after), person.role).toEqual(
      walk.audit.map((entry) => ({ entry, result: 'done', reason })),
    );
  }

  /** A person carries out an action in the browser, after `others` are refused. */
  async function walkThrough(person: Person, walk: Walk, others: readonly Person[]): Promise<void> {
    const before = await newestEntry();
    const form = await reachForm(person, walk);
    const content = await contentOf(walk);
    if (others.length > 0) expect(await isOffered(person, walk)).toBe(true);
    for (const other of others) {
      await expectRefused(other, walk, content);
      expect(await entriesOf(other, before), other.role).toEqual([]);
    }
    await send(walk, form);
    await walk.effect?.(new URL(page.url()));
    await expectEntries(person, walk, before);
  }

  /** Sends the form that the page of a person has. */
  async function sendOwnForm(person: Person, walk: Walk): Promise<void> {
    const { role, viewer } = person;
    const before = await newestEntry();
    const { from, at, action, button, check, fields, file } = walk;
    const first = await viewer.get(from?.at ?? at);
    const shown = from
      ? await sendForm(parser, viewer, first, { button: from.button, check: [from.check] })
      : first;
    const choice = { action, button, check, fields, file };
    const sent = await sendForm(parser, viewer, shown, choice);
    expect(sent.status, `${role}: ${sent.html}`).toBe(200);
    const { text, notices } = await textsOf(parser, sent);
    if (walk.notice) expect(notices, role).toContainEqual(expect.stringMatching(walk.notice));
    if (walk.shows) expect(text, role).toMatch(walk.shows);
    await walk.effect?.(new URL(sent.path, url('/')));
    await expectEntries(person, walk, before);
  }

  test.each(EXAMPLE_PAGES)('the page opens, and its filters work: $path', async (example) => {
    expect(await openAs(admin, examples.pathOf(example.path))).toBe(200);
    expect(await page.locator('h1').isVisible()).toBe(true);
    for (const { canBeSent, to } of (await page.evaluate(FILTERS)) as readonly Filter[]) {
      expect(canBeSent, to).toBe(true);
      const { status, html } = await admin.viewer.get(to);
      // Where a choice is needed and none was made, the page states it.
      expect([200, 400], to).toContain(status);
      expect(html).toContain('<h1>');
    }
  });

  test('the button of a filter leads to the filtered list', async () => {
    await openAs(admin, '/orders');
    const filter = page.locator('main form[method="get"]').first();
    await filter.getByLabel('Currency').fill('JPY');
    await filter.locator('button[type="submit"]').first().click();
    await page.waitForURL(/[?&]currency=JPY/);
    await page.getByRole('link', { name: 'ord_plain', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'ord_held', exact: true }).count()).toBe(0);
  });

  test('each action has its walk', () => {
    expect(Object.keys(walks).toSorted()).toEqual(ACTIONS.map(({ path }) => path).toSorted());
  });

  test.each(inOrder(ACTIONS))(
    'is carried out by who may, and by nobody else: POST $path',
    async ({ path, permission }) => {
      const begin = walks[path];
      if (!begin)
        throw new Error(`nobody walks ${path}: add a walk to test/support/actionWalks.ts`);
      const others = people.filter(({ role }) => !permits(role, permission));
      const [first, ...rest] = people.filter(({ role }) => permits(role, permission));
      if (!first) throw new Error(`nobody may ${path}`);
      await walkThrough(first, await begin(), others);
      for (const person of rest) await sendOwnForm(person, await begin());
    },
    60_000,
  );
});

/** What moves the clock of the service or ends sessions comes last. */
function inOrder(actions: typeof ACTIONS): typeof ACTIONS {
  const last = ['/sandbox/reconcile', '/sandbox/clock', '/account/sign-out-everywhere'];
  const placeOf = ({ path }: (typeof ACTIONS)[number]) => last.indexOf(path);
  return actions.toSorted((one, other) => placeOf(one) - placeOf(other));
}
