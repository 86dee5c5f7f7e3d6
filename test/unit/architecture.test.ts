/**
 * Which module may import which (ARCHITECTURE.md). A failure names the file, the import and the rule.
 * The rules include imports of types.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

const root = packageRoot();

interface Source {
  /** From the root of the project, for example `src/ledger/inbox/jobs.ts`. */
  readonly path: string;
  readonly text: string;
  /** Files of ours by their path, packages by their name. */
  readonly imports: readonly string[];
}

/** Folders with code that runs; not every checkout has all of them. */
const FOLDERS = ['src', 'workers', 'bench', 'scripts'].filter((folder) =>
  existsSync(join(root, folder)),
);

const sources: readonly Source[] = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => {
      const path = join(folder, file);
      const text = readFileSync(join(root, path), 'utf8');
      const imports = [...text.matchAll(/(?:\bfrom |\bimport |\bimport\()'([^']+)'/g)].map(
        ([, specifier = '']) =>
          specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier,
      );
      return { path, text, imports };
    }),
);

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(join(root, file), 'utf8')) as Value;
}

const inFolder = (folder: string) =>
  sources.filter(({ path }) => path.startsWith(`src/${folder}/`));
const FEATURES = [
  'access',
  'archive',
  'audit',
  'actions',
  'erasure',
  'receiver',
  'alerts',
  'ledger',
  'reconcile',
  'outcomes',
  'authorizations',
  'refunds',
  'disputes',
  'payouts',
  'notify',
  'monitor',
  'overview',
  'retention',
  'scheduler',
  'console',
  'pages',
  'search',
  'settlement',
  'statements',
  'trail',
  'client',
  'doctor',
  'sandbox',
  'demo',
];
const BASE = ['platform', 'contract', 'webhooks'];

function expectOnly(
  files: readonly Source[],
  rule: string,
  isAllowed: (imported: string, file: Source) => boolean,
): void {
  expect(files.length).toBeGreaterThan(0);
  const violations = files.flatMap((file) =>
    file.imports
      .filter((imported) => !isAllowed(imported, file))
      .map((imported) => `${file.path} imports ${imported}: ${rule}`),
  );
  expect(violations).toEqual([]);
}

test('the scan reads imports', () => {
  const assembly = sources.find(({ path }) => path === 'src/assembly/receiver.ts');
  expect(assembly?.imports).toContain('src/receiver/app.ts');
});

test('A1: contract imports only zod and itself', () => {
  expectOnly(
    inFolder('contract'),
    'contract is data and schemas',
    (imported) => imported === 'zod' || imported.startsWith('src/contract/'),
  );
});

test('A1b: webhooks is what Tallyhook sends, for programs outside: data, schemas and their verification', () => {
  expectOnly(
    inFolder('webhooks'),
    'shops use it without the server',
    (imported) =>
      ['zod', 'node:crypto', 'src/platform/clock.ts'].includes(imported) ||
      /^src\/(contract|webhooks)\//.test(imported),
  );
});

test('A2: platform imports nothing of ours, and names no payment', () => {
  expectOnly(
    inFolder('platform'),
    'platform serves any program',
    (imported) => !imported.startsWith('src/') || imported.startsWith('src/platform/'),
  );
  const known = inFolder('platform')
    .filter(({ text }) => /\b(payment|refund|dispute|payout)s?\b/i.test(text))
    .map(({ path }) => path);
  expect(known).toEqual([]);
});

test('A2b: config reads settings for every program, and imports only the platform', () => {
  expectOnly(
    inFolder('config'),
    'settings are read before anything is built',
    (imported) => !imported.startsWith('src/') || /^src\/(platform|config)\//.test(imported),
  );
});

test('A3: domain folders are pure: contract, domain folders below, no I/O, no clock, no randomness', () => {
  const domain = sources.filter(({ path }) => path.includes('/domain/'));
  expectOnly(
    domain,
    'domain is synchronous functions over values',
    (imported, { path }) =>
      [
        'src/platform/collections.ts',
        'src/platform/counted.ts',
        'src/platform/db/hosts.ts',
        'src/platform/time.ts',
        'src/representation/roughly.ts',
        'src/webhooks/orderStatuses.ts',
        'src/webhooks/webhooks.ts',
      ].includes(imported) ||
      [domainOf(path), 'src/contract', ...domainsBelow(path)].some((folder) =>
        imported.startsWith(`${folder}/`),
      ),
  );
  const impure = domain
    .filter(({ text }) =>
      /\basync\b|\bawait\b|Date\.now|new Date\(\)|Math\.random|\bprocess\./.test(text),
    )
    .map(({ path }) => path);
  expect(impure).toEqual([]);
});

function domainOf(path: string): string {
  return path.slice(0, path.indexOf('/domain/') + '/domain'.length);
}

/**
 * Domain folders of the features that a feature may import: messages are written about alerts, the timeline
 * shows the audit log, and a retrieve that confirms an excess or an event counts after the same wait. A list row with
 * an older version counts when a retrieve does.
 */
function domainsBelow(path: string): readonly string[] {
  const feature = path.split('/')[1] ?? '';
  if (feature === 'ledger') return ['src/audit/domain'];
  if (feature === 'settlement') return ['src/ledger/domain'];
  if (feature === 'reconcile') return ['src/alerts/domain', 'src/ledger/domain'];
  return ['notify', 'monitor'].includes(feature) ? ['src/alerts/domain'] : [];
}

/** What features import beyond the base and themselves. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  actions: [
    'access',
    'alerts',
    'archive',
    'audit',
    'authorizations',
    'client',
    'demo',
    'disputes',
    'erasure',
    'ledger',
    'notify',
    'outcomes',
    'payouts',
    'reconcile',
    'refunds',
    'retention',
    'scheduler',
    'settlement',
    'statements',
  ],
  access: ['audit'],
  archive: ['config'],
  erasure: ['audit', 'ledger'],
  ledger: ['alerts', 'audit'],
  reconcile: ['ledger', 'client', 'alerts'],
  outcomes: ['client', 'reconcile'],
  authorizations: ['ledger', 'client', 'alerts', 'outcomes', 'reconcile'],
  refunds: ['client', 'outcomes', 'reconcile'],
  disputes: ['client', 'outcomes', 'reconcile'],
  payouts: ['client', 'outcomes', 'reconcile'],
  notify: ['ledger', 'alerts', 'config', 'representation'],
  monitor: ['ledger', 'alerts', 'reconcile', 'notify', 'retention', 'erasure'],
  retention: ['access', 'ledger', 'alerts', 'reconcile', 'notify', 'config'],
  doctor: ['ledger', 'client', 'config'],
  scheduler: ['ledger', 'reconcile'],
  console: [
    'access',
    'actions',
    'alerts',
    'audit',
    'authorizations',
    'config',
    'disputes',
    'erasure',
    'ledger',
    'monitor',
    'notify',
    'payouts',
    'reconcile',
    'representation',
    'scheduler',
    'search',
    'statements',
    'trail',
  ],
  overview: [
    'alerts',
    'authorizations',
    'ledger',
    'monitor',
    'notify',
    'reconcile',
    'representation',
  ],
  pages: [
    'access',
    'actions',
    'alerts',
    'archive',
    'audit',
    'authorizations',
    'config',
    'disputes',
    'console',
    'demo',
    'doctor',
    'erasure',
    'ledger',
    'monitor',
    'notify',
    'overview',
    'payouts',
    'reconcile',
    'refunds',
    'representation',
    'search',
    'retention',
    'scheduler',
    'statements',
    'trail',
  ],
  search: ['alerts', 'erasure', 'ledger', 'notify', 'reconcile'],
  settlement: ['ledger'],
  statements: ['ledger', 'reconcile'],
  trail: ['alerts', 'ledger', 'notify', 'representation'],
  demo: ['client', 'ledger', 'reconcile'],
};

test('A4: a feature imports platform, contract and itself; a few also what they run or show', () => {
  for (const feature of FEATURES) {
    expectOnly(
      inFolder(feature),
      `${feature} is independent`,
      (imported) =>
        !imported.startsWith('src/') ||
        [...BASE, ...(ALSO[feature] ?? []), feature].some((folder) =>
          imported.startsWith(`src/${folder}/`),
        ),
    );
  }
});

test('A13: representation converts rows to JSON, and reads nothing itself', () => {
  const files = inFolder('representation');
  expectOnly(files, 'representation is pure functions of rows to JSON', (imported) =>
    /^zod$|^src\/platform\/counted\.ts$|^src\/(contract|representation|ledger\/(domain|read|verify)|(access|alerts|archive|audit|authorizations|disputes|erasure|monitor|reconcile|scheduler)\/(domain|store)|monitor\/read)\//.test(
      imported,
    ),
  );
  const calling = files
    .filter(({ text }) => /import \{[^}]*\} from '[^']*\/(read|store|verify)\//.test(text))
    .map(({ path }) => path);
  expect(calling, 'of what reads, only types').toEqual([]);
});

test('A4b: only the assembly imports the sandbox, so that it stays an independent check', () => {
  const users = sources
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/sandbox/'))
    .filter(({ imports }) => imports.some((imported) => imported.startsWith('src/sandbox/')))
    .map(({ path }) => path);
  expect(users.length).toBeGreaterThan(0);
  for (const path of users) expect(path).toMatch(/^src\/assembly\//);
});

test('A9: of the ledger, the console imports its reading side and public functions only', () => {
  expectOnly(
    [...inFolder('console'), ...inFolder('pages')],
    'the console shows the ledger and changes nothing in it',
    (imported) =>
      !imported.startsWith('src/ledger/') ||
      imported.startsWith('src/ledger/domain/') ||
      /^src\/ledger\/(\w+|read\/.*|inbox\/\w+)\.ts$/.test(imported),
  );
});

test('A11: of alerts, the console imports their reading side and the actions of people only', () => {
  expectOnly(
    [...inFolder('console'), ...inFolder('pages')],
    'the console raises and resolves nothing',
    (imported) =>
      !imported.startsWith('src/alerts/') ||
      imported.startsWith('src/alerts/domain/') ||
      ['src/alerts/actOnAlert.ts', 'src/alerts/store/alertRows.ts'].includes(imported),
  );
});

test('A14: of messages, the console imports what is stored of them, and sends none itself', () => {
  expectOnly(
    inFolder('console'),
    'actions send messages',
    (imported) =>
      !imported.startsWith('src/notify/') ||
      imported.startsWith('src/notify/domain/') ||
      [
        'src/notify/messageJson.ts',
        'src/notify/readChannels.ts',
        'src/notify/store/messageRows.ts',
      ].includes(imported),
  );
});

test('A5: only workers, the command line and benchmarks use the assembly', () => {
  const users = sources
    .filter(({ path }) => !path.startsWith('src/assembly/'))
    .filter(({ imports }) => imports.some((imported) => imported.startsWith('src/assembly/')))
    .map(({ path }) => path);
  expect(users.length).toBeGreaterThan(0);
  for (const path of users) expect(path).toMatch(/^(workers|src\/cli|bench)\//);
});

test('A6: drivers, the environment and the exit of the process are each used in one place', () => {
  const home = (pattern: RegExp, allowed: RegExp) =>
    sources
      .filter(({ path }) => path.startsWith('src/') && !allowed.test(path))
      .filter(({ text }) => pattern.test(text))
      .map(({ path }) => path);
  expect(
    home(/from '(pg|bullmq|ioredis|pino|prom-client|postgres-migrations)'/, /^src\/platform\//),
  ).toEqual([]);
  expect(home(/process\.env/, /^src\/(config\/config\.ts|platform\/embeddedPostgres\/)/)).toEqual(
    [],
  );
  expect(home(/process\.(exit|on|once)\b/, /^src\/platform\/shutdown\.ts/)).toEqual([]);
  expect(home(/Date\.now|new Date\(\)/, /^src\/platform\/(clock\.ts|embeddedPostgres\/)/)).toEqual(
    [],
  );
  // Commands print by `src/cli/invocation.ts`: a test runs many in one process.
  expect(home(/console\.(log|error|warn)/, /^$/)).toEqual([]);
  expect(
    home(/process\.(argv|exitCode|std(in|out|err))\b/, /^src\/(cli\/main|platform\/shutdown)\.ts/),
  ).toEqual([]);
});

test('A7: SQL is in store folders and in platform/db', () => {
  const withSql = sources
    .filter(({ path }) => path.startsWith('src/'))
    .filter(({ text }) =>
      /[`'"]\s*(select |insert into |update |delete from |with (recursive )?\w+ (as )?\()/.test(
        text,
      ),
    )
    .map(({ path }) => path);
  expect(withSql).toContain('src/ledger/store/orders.ts');
  for (const path of withSql)
    expect(path).toMatch(/\/store\/|^src\/platform\/(db|queue|embeddedPostgres)\//);
});

test('A12: statements that open or close findings are in one file (invariant 12)', () => {
  const writers = sources
    .filter(({ path }) => path.startsWith('src/'))
    .filter(({ text }) => /(insert into|update|delete from) findings\b/.test(text))
    .map(({ path }) => path);
  expect(writers).toEqual(['src/ledger/store/findings.ts']);
});

test('A10: the client imports nothing of the server', () => {
  const imports = new Map(sources.map(({ path, imports: targets }) => [path, targets]));
  const reached = new Set(['src/client/index.ts']);
  for (const path of reached) for (const next of imports.get(path) ?? []) reached.add(next);
  const foreign = [...reached].filter((path) => !/^src\/(client|contract|webhooks)\//.test(path));
  expect(foreign.toSorted()).toEqual([
    'node:crypto',
    'node:events',
    'node:timers/promises',
    'src/platform/clock.ts',
    'src/platform/errors.ts',
    'src/platform/httpExchange.ts',
    'src/platform/sleep.ts',
    'zod',
  ]);
});

test('A10b: the client of the admin API is generated, so that it imports nothing of the server', () => {
  expectOnly(
    inFolder('adminApi'),
    'programs use it without the server',
    (imported) =>
      imported === 'src/platform/httpExchange.ts' || imported.startsWith('src/adminApi/'),
  );
});

test('A15: a build needs no package that only development has, because deployments build without these', () => {
  const { devDependencies } = readJson<{ devDependencies: Record<string, string> }>('package.json');
  const { exclude } = readJson<{ exclude: readonly string[] }>('tsconfig.build.json');
  const built = sources.filter(
    ({ path }) => !exclude.some((left) => path === left || path.startsWith(`${left}/`)),
  );
  const names = Object.keys(devDependencies);
  expectOnly(
    built,
    'it is a development dependency',
    (imported) => !names.some((name) => imported === name || imported.startsWith(`${name}/`)),
  );
});

test('A8: no cycles between files, types included', () => {
  const imports = new Map(sources.map(({ path, imports: targets }) => [path, targets]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    expect(trail, [...trail, path].join(' → ')).not.toContain(path);
    if (done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
});

test('A16: a console loads the endpoints and the pages with the first request for them, because it keeps them in memory', () => {
  const loadedAtOnce = new Map(
    sources.map(({ path, text }) => [
      path,
      [...text.matchAll(/^(?:import|export) (?!type )(?:[^;']*?from )?'(\.[^']+)'/gm)].map(
        ([, specifier = '']) => normalize(join(dirname(path), specifier)),
      ),
    ]),
  );
  const reached = new Set(['src/assembly/console.ts']);
  for (const path of reached) for (const next of loadedAtOnce.get(path) ?? []) reached.add(next);
  expect(reached).toContain('src/console/app.ts');
  expect(
    [...reached].filter((path) => /^src\/(console\/routes|pages\/components)\//.test(path)),
  ).toEqual([]);
});
