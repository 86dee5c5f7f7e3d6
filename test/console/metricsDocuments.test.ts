/**
 * Alerting rules, dashboard and runbook name every metric, and only metrics that exist. The metrics are
 * those of a running Tallyhook with every role and a row of everything that is measured.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RULES } from '../../src/alerts/domain/alert.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { readMetrics } from '../receiver/counters.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventBody, paymentObject } from '../support/events.ts';
import { parseMetrics, type Scrape } from '../support/metrics.ts';
import { noteSkipped } from '../support/noteSkipped.ts';
import { matches, type Selector, selectorsOf } from '../support/promQl.ts';
import { startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8');
const runbook = read('docs/runbook.md');
const rules = read('docs/prometheus-alerts.yml');
const dashboard: Dashboard = JSON.parse(read('docs/grafana-dashboard.json'));

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly title: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[];
  };
}

const alertNames = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name);
/** Expressions on one line, or folded over more deeply indented lines. */
const ruleExpressions = [...rules.matchAll(/^ +expr: (?:>-\n((?: {10,}.*\n)+)|(.*)\n)/gm)].map(
  ([, folded, line]) => (folded ?? line ?? '').trim(),
);
const panelExpressions = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) => expr),
);

let db: TestDatabase;
let tallyhook: TestTallyhook;
let page: string;
let scrape: Scrape;

beforeAll(async () => {
  db = await createTestDatabase();
  await insertOneOfEach(db);
  tallyhook = await startTallyhook({
    db,
    roles: ['receiver', 'events', 'reconcile', 'alerts', 'scheduler', 'console'],
    // Nothing listens there; the settings only enable reconciliation.
    env: { PAYMENTS_BASE_URL: 'http://127.0.0.1:1', PAYMENTS_API_KEY: 'snd_no_service' },
  });
  await tallyhook.deliver(eventBody(paymentObject()));
  // On a busy machine a source may miss the deadline of a scrape.
  await waitFor('a scrape in which every source is up', async () => {
    page = await readMetrics(tallyhook);
    scrape = parseMetrics(page);
    const sources = scrape.samples.filter(({ name }) => name === 'tallyhook_source_up');
    return sources.length > 0 && sources.every(({ value }) => value === 1);
  });
});

afterAll(async () => {
  await tallyhook.close();
  await db.drop();
});

/** Inserts a row for every gauge, so that each has a series. */
async function insertOneOfEach(on: TestDatabase): Promise<void> {
  await on.query(`update reconcile_streams set watermark_at = now()`);
  await on.query(
    `insert into verify_position (change_number, event_id, planned_at) values (0, 0, now())`,
  );
  await on.query(
    `insert into verify_rounds (is_full, change_number, event_id, finished_at)
     values (false, 0, 0, now())`,
  );
  await on.query(`insert into retention_state (class) values ('messages')`);
  await on.query(
    `update rate_budget set requests_limit = 100, remaining = 90, reset_at = now() + interval '1 minute'`,
  );
  await on.query(
    `insert into resources (kind, id, status, currency, authorized_minor)
     values ('payment', 'pay_held', 'requires_capture', 'EUR', 5000)`,
  );
  await on.query(
    `insert into authorization_watch (payment_id, start_at, deadline_at, next_check_at)
     values ('pay_held', now(), now() + interval '5 days', now() + interval '1 day')`,
  );
  await on.query(
    `insert into schedule_slots (schedule, slot, finished_at, lease_until) values ('sweep', now(), now(), now())`,
  );
  await on.query(
    `insert into alerts (rule, subject, severity, sentence, next_step, detail, deadline_at)
     values ('dispute_opened', 'dispute:x', 'critical', 'x', 'x', '{}', now() + interval '5 days')`,
  );
}

/** The metric of a series. A histogram has three kinds of series. */
function metricOf(series: string): string {
  const base = series.replace(/_(bucket|sum|count)$/, '');
  return scrape.types.get(base) === 'histogram' ? base : series;
}

const ownMetrics = (): readonly string[] =>
  [...scrape.types.keys()].filter((name) => name.startsWith('tallyhook_')).toSorted();

/** Labels that Prometheus adds to every series. */
const TARGET_LABELS = new Set(['job', 'instance']);

/** Whether a selector matches no series; a rule with it would never fire. */
function matchesNothing({ metric, matchers }: Selector): boolean {
  const own = matchers.filter(([label]) => !TARGET_LABELS.has(label));
  return !scrape.samples.some((sample) => matches({ metric, matchers: own }, sample));
}

describe('metrics', () => {
  test.each([
    ['rules', ruleExpressions],
    ['dashboard', panelExpressions],
  ])('of the %s exist, with the labels and values that its expressions select', (_, all) => {
    expect(all.length).toBeGreaterThan(20);
    const selectors = all.flatMap(selectorsOf);
    expect(selectors.length).toBeGreaterThanOrEqual(all.length - 1);
    const unknown = selectors.filter(({ metric }) => !scrape.types.has(metricOf(metric)));
    expect(unknown).toEqual([]);
    const withoutSeries = selectors
      .filter(matchesNothing)
      .map(({ metric, matchers }) => `${metric} ${JSON.stringify(matchers)}`);
    expect(withoutSeries).toEqual([]);
  });

  test('come from sources that are all up', () => {
    const sources = scrape.samples.filter(({ name }) => name === 'tallyhook_source_up');
    expect(sources.length).toBeGreaterThanOrEqual(8);
    expect(sources.filter(({ value }) => value !== 1)).toEqual([]);
  });

  test('have the prefix tallyhook_ and a help text', () => {
    const foreign = [...scrape.types.keys()].filter(
      (name) => !/^(tallyhook|process|nodejs)_/.test(name),
    );
    expect(foreign).toEqual([]);
    for (const name of ownMetrics()) expect(page).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
  });

  test('are all on the dashboard', () => {
    const shown = new Set(
      panelExpressions.flatMap(selectorsOf).map(({ metric }) => metricOf(metric)),
    );
    expect(ownMetrics().filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('alerting rules', () => {
  test('each has a severity, a summary, a description and a unique name', () => {
    expect(new Set(alertNames).size).toBe(alertNames.length);
    expect(ruleExpressions).toHaveLength(alertNames.length);
    for (const rule of rules.split(/^ +- alert: /m).slice(1)) {
      expect(rule).toMatch(/labels: \{ severity: (warning|critical) \}/);
      expect(rule).toMatch(/summary: \S/);
      expect(rule).toMatch(/description: \S/);
    }
  });

  test('each has a test that it fires and one that it does not', () => {
    const tests = read('scripts/prometheus-alerts.test.yml');
    const untested = alertNames.filter(
      (name) => tests.split(`ALERTS{alertname="${name}",alertstate="firing"}`).length !== 3,
    );
    expect(untested).toEqual([]);
  });
});

describe('dashboard', () => {
  const { panels } = dashboard;

  test('has its rows, and every panel has a title, a description and its own position', () => {
    const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      'Money at risk',
      'Intake',
      'Queue',
      'Reconciliation',
      'Alerts',
      'Processes',
    ]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = new Set<string>();
    for (const { title, type, description, gridPos } of panels) {
      expect(title).not.toBe('');
      if (type !== 'row') expect(description, title).toMatch(/\S/);
      const { x, y, w, h } = gridPos;
      expect(x + w, title).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column += 1) {
        for (let line = y; line < y + h; line += 1) {
          expect(cells, `${title} lies on another panel`).not.toContain(`${column},${line}`);
          cells.add(`${column},${line}`);
        }
      }
    }
  });

  test('queries the data source that its reader selects', () => {
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(dashboard.templating.list).toMatchObject([{ name: 'datasource', type: 'datasource' }]);
    for (const { type, title, datasource, targets = [] } of panels) {
      if (type === 'row') continue;
      expect(datasource, title).toEqual({ type: 'prometheus', uid: `\${datasource}` });
      expect(targets.length, title).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    }
  });
});

describe('runbook', () => {
  const section = (title: string): string => {
    const [, after] = runbook.split(`\n## ${title}\n`);
    return after?.split('\n## ')[0] ?? '';
  };
  const entries = (title: string): ReadonlyMap<string, string> =>
    new Map(
      section(title)
        .split('\n### ')
        .slice(1)
        .map((entry) => {
          const [name = '', ...rest] = entry.split('\n');
          return [name, rest.join('\n')];
        }),
    );

  test.each<[string, () => readonly string[]]>([
    ['Rules of Prometheus', () => alertNames],
    ['Alerts of Tallyhook', () => RULES],
  ])('has an entry for each of the %s and no others', (title, names) => {
    const all = entries(title);
    expect([...all.keys()].toSorted()).toEqual(names().toSorted());
    for (const [name, text] of all) {
      expect(text, name).toMatch(/^- \*\*Means:\*\* \S/m);
      expect(text, name).toMatch(/^- \*\*First:\*\* \S/m);
      expect(text, name).toMatch(/^- \*\*Stop when:\*\* \S/m);
    }
  });

  test('has a row for each metric and no others', () => {
    const lines = section('Metrics').matchAll(/^\| `(\w+)` \| (.+) \| (.+) \| (.+) \|$/gm);
    const named = [...lines].map(([, name = '']) => name);
    expect(named.toSorted()).toEqual(ownMetrics());
    const mentioned = [...runbook.matchAll(/`(tallyhook_\w+)/g)].map(([, name = '']) => name);
    expect(mentioned.filter((name) => !scrape.types.has(name))).toEqual([]);
  });

  test('names only commands and options that exist', async () => {
    const commands = await readCommands();
    const named = [...runbook.matchAll(/`npx tallyhook ([^`]+)`/g)].map(([, words = '']) => words);
    expect(named.length).toBeGreaterThan(50);
    // Its first table has the form of every command.
    const unknown = [...new Set(named)].filter((words) => !isCommand(words, commands));
    expect(unknown).toEqual(['COMMAND']);
  });
});

/** The commands of the program. */
async function readCommands(): Promise<readonly Command[]> {
  const folder = join(packageRoot(), 'src/cli/commands');
  const modules = await Promise.all(
    readdirSync(folder).map((file): Promise<object> => import(join(folder, file))),
  );
  return modules
    .flatMap((exported) => Object.entries(exported))
    .flatMap(([name, make]) => (/Command$/.test(name) ? [(make as () => Command)()] : []));
}

function isCommand(words: string, commands: readonly Command[]): boolean {
  const [name = '', ...rest] = words.split(' ');
  const command = commands.find((one) => one.name() === name);
  if (!command) return false;
  if (command.commands.length > 0) return isCommand(rest.join(' '), command.commands);
  const options = rest.filter((word) => word.startsWith('--'));
  return options.every((option) => command.options.some(({ long }) => long === option));
}

/** promtool is Prometheus's own checker. If it is missing, scripts/check-prometheus.sh shows how to get it. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) noteSkipped('promtool', 'its two tests are');

describe.skipIf(!hasPromtool)(hasPromtool ? 'promtool' : 'promtool: SKIPPED: not installed', () => {
  const promtool = (args: readonly string[], input = ''): string => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}`;
  };

  test('accepts the metrics', () => {
    // Metrics of every Node.js process are named by prom-client.
    const own = page.split('\n').filter((line) => /^(# \w+ )?tallyhook_/.test(line));
    expect(promtool(['check', 'metrics'], `${own.join('\n')}\n`)).toBe('');
  });

  test('accepts every expression of the dashboard', () => {
    const asRules = panelExpressions.map((expression, index) => {
      const expr = expression.replaceAll('$__rate_interval', '5m');
      return { record: `panel:expression:${index}`, expr };
    });
    const folder = mkdtempSync(join(tmpdir(), 'tallyhook-rules-'));
    try {
      // JSON is YAML.
      const file = join(folder, 'dashboard.yml');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
      expect(promtool(['check', 'rules', file])).toBe('');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
