/**
 * Every page and every action of the console in a browser that runs no script. Each role that has an action
 * carries it out: a person opens the page, fills in its form and sends it; the notice, the effect and the
 * entries of the audit log are there. The other roles do not see its control, and are refused if they send its
 * form anyway.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permits, ROLES, type Role } from '../../src/access/domain/roles.ts';
import { ACTIONS } from '../../src/pages/pages.ts';
import { createActionWalks, REASON, type Walk } from '../support/actionWalks.ts';
import { browserPath, startBrowser } from '../support/browser.ts';
import {
  addConsoleExamples,
  addExamples,
  EXAMPLE_PAGES,
  type Examples,
} from '../support/pageExamples.ts';
import { openPages } from '../support/pages.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

/** Someone who is signed in. */
interface Person {
  readonly role: Role;
  readonly page: Page;
  /** Of their session. */
  readonly formToken: string;
}

describe.skipIf(browserPath === undefined)('in a browser (skipped where none is installed)', () => {
  let all: SandboxConsole;
  let examples: Examples;
  let browser: Browser;
  let people: readonly Person[];
  let page: Page;
  let walks: ReturnType<typeof createActionWalks>;
  const url = (path: string) => `http://127.0.0.1:${all.tallyhook.consolePort}${path}`;

  beforeAll(async () => {
    all = await startSandboxConsole();
    await addExamples(all.db);
    examples = await addConsoleExamples(all);
    walks = createActionWalks(all, await openPages(all.tallyhook));
    browser = await startBrowser();
    const tokens = await createTokensOfEveryKind(all.db);
    const signedIn: Person[] = [];
    for (const role of ROLES) signedIn.push(await signIn(role, tokens.get(role) ?? ''));
    people = signedIn;
    const admin = signedIn.find(({ role }) => role === 'admin');
    if (!admin) throw new Error('nobody is an administrator');
    page = admin.page;
  });
  afterAll(async () => {
    await browser.close();
    await all.close();
  });

  async function signIn(role: Role, token: string): Promise<Person> {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const opened = await context.newPage();
    opened.setDefaultTimeout(30_000);
    await opened.goto(url('/'));
    await opened.getByLabel('Token').fill(token);
    await opened.getByRole('button', { name: 'Sign in' }).click();
    // A role that opens no page has a form on its page of refusal: the sign-out.
    const formToken = opened.locator('input[name="form_token"]').first();
    return { role, page: opened, formToken: await formToken.inputValue() };
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
    const buffer = Buffer.from('%PDF-1.7 proof of delivery');
    const proof = { name: 'proof.pdf', mimeType: 'application/pdf', buffer };
    await form.locator(`[name="${file}"]`).setInputFiles(proof);
  }

  const formOf = (on: Page, { action }: Walk) =>
    on.locator(`form[method="post"][action="${action}"]`).first();

  /** Opens the page with the form, and fills it in. */
  async function reachForm({ page: on }: Person, walk: Walk): Promise<Locator> {
    await on.goto(url(walk.from?.at ?? walk.at));
    if (walk.from) {
      await on.locator(walk.from.check).check();
      await on.getByRole('button', { name: walk.from.button }).click();
    }
    const form = formOf(on, walk);
    for (const box of walk.check ?? []) await on.locator(box).check();
    await fill(form, walk);
    return form;
  }

  async function send({ page: on }: Person, walk: Walk, form: Locator): Promise<void> {
    const button =
      walk.button === undefined
        ? form.locator('button[type="submit"]').first()
        : form.getByRole('button', { name: walk.button, exact: true });
    await button.click();
    if (walk.notice === undefined) return;
    const notice = on.getByRole('status').filter({ hasText: walk.notice });
    await notice.waitFor().catch(async () => {
      const shown = await on.locator('main').textContent();
      throw new Error(`no notice ${walk.notice} on ${on.url()}: ${shown}`);
    });
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
  async function contentOf(on: Page, { action }: Walk): Promise<Record<string, string>> {
    const entries = (await on.evaluate(
      `[...new FormData([...document.forms].find(
          (form) => form.method === 'post' && form.getAttribute('action') === ${JSON.stringify(action)},
        ))].filter(([, value]) => typeof value === 'string')`,
    )) as [string, string][];
    return Object.fromEntries(entries);
  }

  /** Whether the pages of a walk have its controls, for a person. */
  async function isOffered({ page: on, role }: Person, { action, at, from }: Walk) {
    // Without `read`, a role opens no page.
    if (!permits(role, 'read')) return false;
    const has = async (path: string, control: string) =>
      (await (await on.request.get(url(path))).text()).includes(control);
    const isLeading = from !== undefined && (await has(from.at, `>${from.button}</button>`));
    return isLeading || (await has(at, `action="${action}"`));
  }

  async function expectRefused(
    person: Person,
    walk: Walk,
    content: Record<string, string>,
  ): Promise<void> {
    const { page: on, role, formToken } = person;
    expect(await isOffered(person, walk), role).toBe(false);
    const form = { ...content, form_token: formToken };
    const sent = await on.request.post(url(walk.action), { form });
    expect(sent.status(), role).toBe(403);
    expect(await sent.text()).toContain(`Your role is ${role}`);
  }

  async function walkThrough(person: Person, walk: Walk, others: readonly Person[]): Promise<void> {
    const before = await newestEntry();
    const form = await reachForm(person, walk);
    const content = await contentOf(person.page, walk);
    if (others.length > 0) expect(await isOffered(person, walk)).toBe(true);
    for (const other of others) {
      await expectRefused(other, walk, content);
      expect(await entriesOf(other, before), other.role).toEqual([]);
    }
    await send(person, walk, form);
    await walk.effect(person.page);
    const reason = walk.fields?.reason === undefined ? null : REASON;
    expect(await entriesOf(person, before), person.role).toEqual(
      walk.audit.map((entry) => ({ entry, result: 'done', reason })),
    );
  }

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
      for (const person of rest) await walkThrough(person, await begin(), []);
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
