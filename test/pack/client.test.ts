/**
 * @tallyhook/client, installed from its tarball in a project that has nothing else: `npm install` as in
 * docs/packages/client.md.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT_PACKAGE } from '../../scripts/pack/packages.ts';
import { stagePackage } from '../../scripts/pack/stagePackage.ts';
import {
  brokenLinks,
  bytesIn,
  compileIn,
  type FreshProject,
  installPacked,
  run,
  SLOWEST_INSTALL_MS,
  TYPE_ROOTS,
} from './freshProject.ts';

const MAX_INSTALLED_BYTES = 5_000_000;

let shop: FreshProject;
beforeAll(async () => {
  shop = await installPacked(CLIENT_PACKAGE);
}, SLOWEST_INSTALL_MS);
afterAll(() => shop.remove());

test('each link of its pages leads to a file of the package', () => {
  expect(brokenLinks(join(shop.folder, 'node_modules/@tallyhook/client'))).toEqual([]);
});

test('it installs without a registry, brings zod alone, and has less than 5 MB', () => {
  const modules = join(shop.folder, 'node_modules');
  expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['@tallyhook']);
  expect(readdirSync(join(modules, '@tallyhook'))).toEqual(['client']);
  expect(readdirSync(join(modules, '@tallyhook/client/node_modules'))).toEqual(['zod']);
  const bytes = bytesIn(modules);
  expect(bytes).toBeLessThan(MAX_INSTALLED_BYTES);
});

/** Uses the types: a line that must not compile shows that they are not all `any`. */
const CODE = `
const service = createClient({ baseUrl: 'https://pay.example', apiKey: 'snd_1' });
export async function pay(): Promise<string> {
  // @ts-expect-error: fields are missing
  const { payment } = await service.payments.create({});
  const status: string | null | undefined = payment.status;
  return String(status);
}
export function paid(body: string, headers: Record<string, string>): number | undefined {
  const { webhook } = verifyTallyhookWebhook({ body, headers }, { secret: 'whsec_AAAA' });
  if (!isOrderWebhook(webhook)) return undefined;
  // @ts-expect-error: the field is amount_captured
  webhook.data.order.totals[0]?.captured;
  return webhook.type === 'order.paid' ? webhook.data.order.totals[0]?.amount_captured : 0;
}
const tallyhook = createAdminApiClient({ baseUrl: 'http://127.0.0.1:8081', token: 'a-token' });
export async function paidOrders(): Promise<number> {
  // @ts-expect-error: the field is order_id
  await tallyhook.getOrder({ order: 'ord_1' });
  let sum = 0;
  for await (const order of tallyhook.iterate.listOrders({ status: 'paid' })) {
    // @ts-expect-error: the field is amount_captured
    sum += order.totals[0]?.captured ?? 0;
  }
  return sum;
}
paidOrders().catch((error: unknown) => console.log(error instanceof TypeError));
const kind: ClientErrorKind = 'id_in_use';
const { path }: Endpoint = ENDPOINTS.createPayment;
console.log([Object.keys(service).length, kind, path, declineAdvice('UE_1001').retry].join());
pay().catch((error: unknown) => console.log(error instanceof PaymentServiceError));
`;

const IMPORTS = `
import {
  type ClientErrorKind, createClient, declineAdvice, isOrderWebhook, PaymentServiceError, verifyTallyhookWebhook,
} from '@tallyhook/client';
import { createAdminApiClient } from '@tallyhook/client/admin-api';
import { ENDPOINTS, type Endpoint } from '@tallyhook/client/contract';
`;

const PRINTED = ['9,id_in_use,/payments,never', 'true', 'true'];

/** scripts/check-packages.sh compiles under every resolution, with each version of TypeScript since 5.6. */
test.each(['module', 'commonjs'])(
  'TypeScript in a project of type %s compiles and runs',
  async (type) => {
    shop.write(`${type}/package.json`, { type });
    shop.write(`${type}/shop.ts`, IMPORTS + CODE);
    shop.write(`${type}/tsconfig.json`, {
      compilerOptions: {
        target: 'es2022',
        strict: true,
        module: 'nodenext',
        rootDir: '.',
        outDir: 'out',
        types: ['node'],
        typeRoots: TYPE_ROOTS,
      },
      files: ['shop.ts'],
    });
    const folder = join(shop.folder, type);
    expect(await compileIn(folder)).toBe('');
    const { stdout } = await run(process.execPath, ['out/shop.js'], { cwd: folder });
    expect(stdout.trim().split('\n')).toEqual(PRINTED);
  },
);

const PLAIN = `
const service = createClient({ baseUrl: 'https://pay.example', apiKey: 'snd_1' });
const tallyhook = createAdminApiClient({ baseUrl: 'http://127.0.0.1:8081', token: 'a-token' });
tallyhook.getOrder({ order: 'ord_1' }).catch((error) => console.log(error instanceof TypeError));
const { path } = ENDPOINTS.createPayment;
console.log([Object.keys(service).length, 'id_in_use', path, declineAdvice('UE_1001').retry].join());
service.payments.create({}).catch((error) => console.log(error instanceof PaymentServiceError));
`;

test.each([
  [
    '.mjs',
    `import { createClient, declineAdvice, PaymentServiceError } from '@tallyhook/client';
     import { createAdminApiClient } from '@tallyhook/client/admin-api';
     import { ENDPOINTS } from '@tallyhook/client/contract';`,
  ],
  [
    '.cjs',
    `const { createClient, declineAdvice, PaymentServiceError } = require('@tallyhook/client');
     const { createAdminApiClient } = require('@tallyhook/client/admin-api');
     const { ENDPOINTS } = require('@tallyhook/client/contract');`,
  ],
])('plain JavaScript %s runs', async (ending, imports) => {
  shop.write(`plain${ending}`, imports + PLAIN);
  const { stdout } = await run(process.execPath, [`plain${ending}`], { cwd: shop.folder });
  expect(stdout.trim().split('\n')).toEqual(PRINTED);
});

test('nothing else of the package can be imported', async () => {
  const attempt = `import('@tallyhook/client/esm/client/send.js').catch(({ code }) => console.log(code))`;
  const { stdout } = await run(process.execPath, ['--eval', attempt], { cwd: shop.folder });
  expect(stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
});

test('a package that imports what its definition does not name is refused', async () => {
  const entries = { './contract': 'src/contract/lists.ts' };
  const definition = { ...CLIENT_PACKAGE, entries, bundled: {} };
  await expect(stagePackage(definition, join(shop.folder, 'refused'))).rejects.toThrow(
    '@tallyhook/client imports zod',
  );
});
