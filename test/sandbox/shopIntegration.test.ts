/** The code of docs/guides/shop-integration.md compiles in a shop, and behaves as the guide states. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLIENT_PACKAGE } from '../../scripts/pack/packages.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { testCard } from '../../src/sandbox/domain/outcomes.ts';
import { stagedPackage } from '../pack/freshProject.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { BILLING, card } from '../support/sandboxRequests.ts';

const run = promisify(execFile);
const root = packageRoot();
/** A shop that has the packed client, within the checkout for its compiler. Git ignores it like all build output. */
const folder = join(root, 'dist', 'shop-guide');

let sandbox: TestSandbox;
let proxy: RecordingProxy;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  proxy = await startRecordingProxy(sandbox.baseUrl);
  addStandInResponses();
  const guide = readFileSync(join(root, 'docs/guides/shop-integration.md'), 'utf8');
  const blocks = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  rmSync(folder, { recursive: true, force: true });
  const client = join(folder, 'node_modules', CLIENT_PACKAGE.name);
  cpSync(await stagedPackage(CLIENT_PACKAGE), client, { recursive: true });
  writeFileSync(join(folder, 'shop.ts'), blocks.join('\n'));
  const options = { noEmit: false, rootDir: '.', outDir: '.' };
  const config = {
    extends: '../../tsconfig.json',
    compilerOptions: options,
    files: ['shop.ts'],
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await proxy.close();
  await sandbox.close();
});

const BANK = 'https://bank.example/3ds';

/** Other statuses of services of the family for a customer who has to act. */
function addStandInResponses(): void {
  const redirect = { redirect_to_url: BANK };
  for (const body of [
    { payment_id: 'order-4-1', status: 'requires_customer_action', next_action: redirect },
    { payment_id: 'order-5-1', status: 'requires_redirection', next_action: redirect },
    { payment_id: 'order-6-1', status: 'requires_customer_action', next_action: { type: 'qr' } },
  ]) {
    proxy.standIns.set(`/payments/${body.payment_id}`, { status: 200, body });
  }
}

/** A payout of another party, confirmed and not fulfilled: the shop must not fulfill it. */
const ANYBODYS = {
  amount: 5000,
  currency: 'EUR',
  merchant_order_reference_id: 'somebody-else',
  payout_type: 'bank',
  payout_method_data: { bank_transfer: { payout_method_type: 'sepa', iban: 'DE1', bic: 'X' } },
  confirm: true,
};

/** The scenario around the shop: customers with cards, and a bank that opens a dispute. */
const story = (inputs: object) => `
  import * as shop from './dist/shop-guide/shop.js';
  const { base, apiKey, billing, plain, secure, declined } = ${JSON.stringify(inputs)};
  const post = async (path, body, method = 'POST') => {
    const json = { method, headers: { 'content-type': 'application/json', 'api-key': apiKey } };
    return await (await fetch(base + path, { ...json, body: JSON.stringify(body) })).json();
  };
  const order = (id, attempt = 1) => ({ id, attempt, amount: 6540, currency: 'USD' });
  const results = {};
  results.plain = await shop.checkOut(order('1'), { payment_method_data: plain, billing });
  results.again = await shop.checkOut(order('1'), { payment_method_data: plain, billing });
  results.secure = (await shop.checkOut(order('2'), { payment_method_data: secure, billing })).do;
  await post('/_sandbox/payments/order-2-1/action', { action: 'complete' });
  results.returned = await shop.customerReturned(order('2'));
  results.declined = await shop.checkOut(order('3'), { payment_method_data: declined, billing });
  results.declinedAgain = await shop.checkOut(order('3'), { payment_method_data: plain, billing });
  results.otherCard = await shop.checkOut(order('3', 2), { payment_method_data: plain, billing });
  results.captured = await shop.capture(order('1'));
  results.refund = await shop.refund(order('1'), 'r1', 540);
  results.refundAgain = await shop.refund(order('1'), 'r1', 540);
  const { dispute_id } = await post('/_sandbox/disputes', { payment_id: 'order-1-1', amount: 6000 });
  results.evidence = await shop.contest(dispute_id, new File(['paid'], 'receipt.txt'), 'TRACK-1');
  results.payout = await shop.payOut('supplier-7', 900, 'DE02120300000000202051', 'BYLADEM1');
  results.payoutAgain = await shop.payOut('supplier-7', 900, 'DE02120300000000202051', 'BYLADEM1');
  const anybodys = await post('/payouts/create', ${JSON.stringify(ANYBODYS)});
  await post('/_sandbox/faults', { lists: { ignored_filters: ['merchant_order_reference_id'] } }, 'PUT');
  results.otherPayout = await shop.payOut('supplier-8', 800, 'DE02120300000000202051', 'BYLADEM1');
  results.payoutUnfiltered = await shop.payOut('supplier-7', 900, 'DE02120300000000202051', 'BYLADEM1');
  const untouched = await fetch(base + '/payouts/' + anybodys.payout_id, { headers: { 'api-key': apiKey } });
  results.anybodys = (await untouched.json()).status;
  results.acting = [await shop.customerReturned(order('4')), await shop.customerReturned(order('5'))];
  results.actingNowhere = await shop.customerReturned(order('6'));
  console.log(JSON.stringify(results));
`;

test('the code of the guide compiles and runs', async () => {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const compiled = await run(compiler, ['-p', folder]).catch(({ stdout }) => ({ stdout }));
  expect(compiled.stdout).toBe('');
  const inputs = {
    base: sandbox.baseUrl,
    apiKey: sandbox.apiKey,
    billing: BILLING,
    plain: card(),
    secure: card(testCard('customer_action')),
    declined: card(testCard('final', 'UE_1001')),
  };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', story(inputs)], {
    cwd: root,
    env: {
      ...process.env,
      PAYMENTS_BASE_URL: proxy.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
      PAYMENTS_PROFILE_ID: sandbox.profileId,
    },
  });
  expect(JSON.parse(stdout)).toEqual({
    plain: { do: 'ship' },
    again: { do: 'ship' },
    secure: 'redirect',
    returned: { do: 'ship' },
    declined: {
      do: 'explain',
      message: 'Insufficient funds',
      mayRetry: false,
      mayUseAnotherMethod: true,
    },
    declinedAgain: {
      do: 'explain',
      message: 'Insufficient funds',
      mayRetry: false,
      mayUseAnotherMethod: true,
    },
    otherCard: { do: 'ship' },
    captured: 6540,
    refund: { status: 'succeeded', origin: 'created' },
    refundAgain: { status: 'succeeded', origin: 'existing' },
    evidence: {
      status: 'submitted',
      at: expect.any(String),
      groups: ['product_information', 'shipping_information'],
    },
    payout: 'success',
    payoutAgain: 'success',
    otherPayout: 'success',
    payoutUnfiltered: 'success',
    anybodys: 'requires_fulfillment',
    acting: [
      { do: 'redirect', to: BANK },
      { do: 'redirect', to: BANK },
    ],
    actingNowhere: { do: 'wait' },
  });
  const payments = await sandbox.control('GET', '/resources/payment');
  expect(payments.data).toHaveLength(4);
  expect((await sandbox.control('GET', '/resources/payout')).data).toHaveLength(3);
});
