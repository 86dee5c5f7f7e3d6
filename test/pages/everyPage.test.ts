/** Every page of the console, over HTTP: by each role, with hostile content, and each link on it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permits, ROLES, type Role } from '../../src/access/domain/roles.ts';
import {
  ACTION_PATHS,
  addConsoleExamples,
  addExamples,
  EXAMPLE_PAGES,
  type Examples,
} from '../support/pageExamples.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { type SandboxConsole, startSandboxConsole } from '../support/sandboxConsole.ts';
import { createTokensOfEveryKind } from '../support/tokens.ts';

let all: SandboxConsole;
let examples: Examples;
const viewers = new Map<Role, PageViewer>();

beforeAll(async () => {
  all = await startSandboxConsole(['console']);
  await addExamples(all.db);
  examples = await addConsoleExamples(all);
  const tokens = await createTokensOfEveryKind(all.db);
  for (const role of ROLES) viewers.set(role, await openPages(all.tallyhook, tokens.get(role)));
});
afterAll(() => all.close());

const as = (role: Role): PageViewer => {
  const viewer = viewers.get(role);
  if (!viewer) throw new Error(`nobody has the role ${role}`);
  return viewer;
};

const CELLS = ROLES.map((role) => ({ role }));

describe.each(EXAMPLE_PAGES)('GET $path', ({ path, permission }) => {
  test.each(CELLS)('opens or is refused as the role permits: $role', async ({ role }) => {
    const { status, html } = await as(role).get(examples.pathOf(path));
    expect(html).toContain('<h1>');
    if (permits(role, permission)) expect(status, html).toBe(200);
    else expect(status).toBe(403);
  });

  test('has no code of its own, and nothing from outside becomes code', async () => {
    const { html } = await as('admin').get(examples.pathOf(path));
    expect(codeIn(html)).toEqual([]);
  });

  test('names its main part once, and itself in the title', async () => {
    const { html } = await as('viewer').get(examples.pathOf(path));
    expect(mistakesIn(html)).toEqual([]);
  });
});

/** What would run, or show something from elsewhere, besides the script of the console. */
function codeIn(html: string): readonly string[] {
  const own = /^<script src="\/assets\/console-\w+\.js" defer>$/;
  const scripts = html.match(/<script\b[^>]*>[^<]*/gi) ?? [];
  const [first = 'no script', ...others] = scripts;
  return [
    ...(html.match(/<(?:img|iframe|object|embed|style)\b/gi) ?? []),
    ...Array.from(html.matchAll(/<[^>]*?\s((?:style|on\w+)=)/gi), ([, name = '']) => name),
    ...(own.test(first) ? others : scripts),
  ];
}

/** What names a page, and what is wrong with it. */
function mistakesIn(html: string): readonly string[] {
  const parts: readonly (readonly [name: string, found: RegExp])[] = [
    ['main', /<main\b/g],
    ['h1', /<h1>/g],
    ['title', /<title>[^<]+ · Tallyhook<\/title>/g],
    ['lang', /<html lang="en"/g],
  ];
  return parts.flatMap(([name, found]) => {
    const count = html.match(found)?.length ?? 0;
    return count === 1 ? [] : [`${count} of ${name}`];
  });
}

describe('a page that is spoiled is noticed', () => {
  const spoiled = async (spoil: (html: string) => string): Promise<string> => {
    const { html } = await as('viewer').get('/orders');
    const changed = spoil(html);
    expect(changed).not.toBe(html);
    return changed;
  };

  test.each<[string, (html: string) => string]>([
    ['<img', (html) => html.replace('</main>', '<img src=x></main>')],
    ['<iframe', (html) => html.replace('</main>', '<iframe></iframe></main>')],
    ['style=', (html) => html.replace('<h1>', '<h1 style="color:red">')],
    ['onclick=', (html) => html.replace('<h1>', '<h1 class="a" onclick=hostile()>')],
    ['<script>hostile()', (html) => html.replace('</body>', '<script>hostile()</script></body>')],
  ])('%s', async (found, spoil) => {
    expect(codeIn(await spoiled(spoil))).toEqual([found]);
  });

  test.each<[string, (html: string) => string]>([
    ['2 of main', (html) => html.replace('</main>', '</main><main></main>')],
    ['0 of h1', (html) => html.replaceAll('h1>', 'h2>')],
    ['2 of h1', (html) => html.replace('</main>', '<h1>More</h1></main>')],
    ['0 of title', (html) => html.replace(/<title>[^<]*/, '<title>Tallyhook')],
    ['0 of lang', (html) => html.replace(' lang="en"', '')],
  ])('%s', async (found, spoil) => {
    expect(mistakesIn(await spoiled(spoil))).toEqual([found]);
  });
});

/** The addresses in the console that a page links to. */
function linksOf(html: string): readonly string[] {
  return Array.from(html.matchAll(/<a\b[^>]*?\shref="([^"]+)"/g), ([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  ).filter((target) => target.startsWith('/') && !target.startsWith('/api/'));
}

test('every link on every page leads to a page', async () => {
  const viewer = as('admin');
  const waiting = EXAMPLE_PAGES.map(({ path }) => examples.pathOf(path));
  const seen = new Set(waiting);
  const broken: string[] = [];
  for (const path of waiting) {
    const { status, html, location } = await viewer.get(path);
    // A search for an id leads to its page.
    if (location === null && status !== 200) broken.push(`${status} ${path}`);
    for (const target of location === null ? linksOf(html) : [location]) {
      if (seen.has(target)) continue;
      seen.add(target);
      if (seen.size < 500) waiting.push(target);
    }
  }
  expect(broken).toEqual([]);
});

test('every form of an action has a button, so that it is sent without a script', async () => {
  const viewer = as('admin');
  const offered = new Set<string>();
  for (const { path } of EXAMPLE_PAGES) {
    const { html } = await viewer.get(examples.pathOf(path));
    for (const [form] of html.matchAll(/<form\b[^>]*method="post"[\s\S]*?<\/form>/g)) {
      expect(form, path).toMatch(/<button type="submit"/);
      offered.add(/action="([^"]+)"/.exec(form)?.[1] ?? '');
    }
  }
  expect(offered.size).toBeGreaterThan(20);
});

test.each(ACTION_PATHS)(
  'an action is refused without the token of the session: POST $path',
  async ({ path }) => {
    const { status, html } = await as('admin').postRaw(path, { reason: 'test' });
    expect(status).toBe(403);
    expect(html).toContain('Nothing was');
  },
);

test('the foot of a page has the version that /healthz and the metrics have', async () => {
  const { healthUrl } = all.tallyhook;
  const { version } = (await (await fetch(`${healthUrl}/healthz`)).json()) as { version: string };
  const { html } = await as('viewer').get('/');
  expect(html).toContain(`<p>Tallyhook ${version}</p>`);
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  expect(metrics).toContain(`tallyhook_build_info{version="${version}"`);
});
