import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildAdminOpenApi } from '../../../scripts/openapi/admin.ts';
import { createApi } from '../../../src/console/api.ts';
import { type ConsoleAppParts, createConsoleApp } from '../../../src/console/app.ts';
import { createChangeFeed } from '../../../src/ledger/changeFeed.ts';
import { createBalanceReader } from '../../../src/ledger/read/balances.ts';
import { NO_TRUSTED_PROXIES } from '../../../src/platform/clientAddress.ts';
import type { Database } from '../../../src/platform/db/database.ts';
import { readsOfPrimary } from '../../../src/platform/db/reads.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const noQueue = {
  depth: () => Promise.reject(new Error('no queue')),
  failed: () => Promise.reject(new Error('no queue')),
};

const document = JSON.parse(JSON.stringify(buildAdminOpenApi())) as {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >;
  readonly components: { readonly schemas: object; readonly responses: object };
};

test('docs/openapi-admin.json is current; `npm run generate` writes it', () => {
  const written = readFileSync(join(packageRoot(), 'docs/openapi-admin.json'), 'utf8');
  expect(JSON.parse(written)).toEqual(document);
  expect(written).toBe(`${JSON.stringify(document, null, 2)}\n`);
});

interface Layer {
  readonly route?: {
    readonly path: string;
    readonly stack: readonly { readonly method?: string }[];
  };
}

test('the app and the document have the same routes', () => {
  const never: Database = {
    query: () => Promise.reject(new Error('not refreshed')),
    prepared: () => Promise.reject(new Error('not refreshed')),
    examinePooling: () => Promise.reject(new Error('not refreshed')),
    transaction: () => Promise.reject(new Error('not refreshed')),
    session: () => Promise.reject(new Error('not refreshed')),
    probe: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const parts: ConsoleAppParts = {
    feed: createChangeFeed(never),
    balances: createBalanceReader(never),
    pages: (_request, _response, next) => next(),
    tokens: {
      verify: () => Promise.resolve({ outcome: 'invalid' }),
      verifyDigest: () => Promise.resolve({ outcome: 'invalid' }),
    },
    trustedProxies: NO_TRUSTED_PROXIES,
    refusals: { note: () => undefined, close: () => Promise.resolve() },
    db: never,
    reads: readsOfPrimary(never),
    refresher: undefined,
    authorizations: undefined,
    refunds: undefined,
    disputes: undefined,
    payouts: undefined,
    enqueueEvents: () => Promise.reject(new Error('no queue')),
    channels: [],
    channelTargets: [],
    testChannel: () => Promise.resolve(undefined),
    queues: {
      backend: 'postgres',
      check: () => Promise.resolve(undefined),
      queues: { events: noQueue, reconcile: noQueue },
    },
    schedules: [],
    installation: { name: 'Tallyhook', consoleUrl: undefined },
    sessionIdleMs: 60_000,
    enqueueRuns: () => Promise.reject(new Error('no queue')),
    isReady: () => true,
    metrics: createMetrics(),
    clock: { nowMs: () => 0 },
    log: createLog('silent'),
  };
  const api = createApi(parts, {
    isReady: () => true,
    allow: () => (_request, _response, next) => next(),
    refuseWrite: () => Promise.resolve(undefined),
  });
  const layers: readonly Layer[] = [...createConsoleApp(parts).router.stack, ...api.stack];
  const routes = layers.flatMap(({ route }) => {
    // Routes for all methods respond with 405; they have no method of their own.
    const methods = new Set(route?.stack.flatMap(({ method }) => method ?? []));
    return [...methods].map((method) => `${method} ${route?.path.replaceAll(/:(\w+)/g, '{$1}')}`);
  });
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path}`),
  );
  expect(routes.toSorted()).toEqual(described.toSorted());
  expect(described.length).toBeGreaterThan(8);
});

test('every reference has a target, and every part is referenced', () => {
  const text = JSON.stringify(document);
  const referred = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, name]) => name));
  const defined = [
    ...Object.keys(document.components.schemas).map((name) => `schemas/${name}`),
    ...Object.keys(document.components.responses).map((name) => `responses/${name}`),
  ];
  expect([...referred].toSorted()).toEqual(defined.toSorted());
});

test('operation names are unique', () => {
  const names = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );
  expect(new Set(names).size).toBe(names.length);
  expect(document.openapi).toMatch(/^3\.1\./);
});
