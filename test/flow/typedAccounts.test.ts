/**
 * What an operator types about an account, to pay a payout again, is sent to the service and is in no log line,
 * no job of either queue, no entry of the audit log and no table, also if the service quotes it in an error.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openPages, type PageViewer } from '../support/pages.ts';
import { type Environment, settingsFor } from '../support/program.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { redisDatabaseOf } from '../support/redisDatabases.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from '../support/sandbox.ts';
import { tablesWith } from '../support/tablesWith.ts';
import { ADMIN_TOKEN, startTallyhook, type TestTallyhook } from '../support/tallyhook.ts';
import { waitFor } from '../support/waitFor.ts';

/** Only the first has a form by which it could be recognized. */
const IBAN = 'DE02120300000000202051';
const HOLDER = 'Ada Q. Payee';
const NUMBER = '000940123456';
const ROUTING = '110000613';
const TYPED = [IBAN, HOLDER, NUMBER, ROUTING];

const ACH = {
  bank_account_number: NUMBER,
  bank_routing_number: ROUTING,
  account_holder_name: HOLDER,
};
const SEPA = { iban: IBAN, bic: 'BYLADEM1001', account_holder_name: HOLDER };
const seen = { expected_amount: '2500', currency: 'EUR', amount: '25.00', reason: 'account fixed' };
const seenByApi = { expected_amount: 2500, currency: 'EUR', reason: 'account fixed' };

const redisUrl = redisDatabaseOf('typedAccounts');

let db: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
let tallyhook: TestTallyhook;
let viewer: PageViewer;
let env: Environment;
let lines: string[];
/** How many webhooks of the sandbox were delivered. */
let delivered: number;
/** What was ever put into a queue. */
let readJobs: () => Promise<string>;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  db = await createTestDatabase();
  cleanups.push(() => db.drop());
  sandbox = await startTestSandbox();
  cleanups.push(() => sandbox.close());
  proxy = await startRecordingProxy(sandbox.baseUrl);
  cleanups.push(() => proxy.close());
  lines = [];
  delivered = 0;
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const BACKENDS = ['postgres', ...(redisUrl === undefined ? [] : ['redis'])] as const;

describe.each(BACKENDS)(
  'with the queue in %s, typed details are nowhere in Tallyhook',
  (backend) => {
    beforeEach(async () => {
      readJobs = backend === 'redis' ? await watchRedis() : watchTables;
      await start(backend === 'redis' ? redisUrl : undefined);
      if (backend === 'postgres') await keepJobs();
    });

    test('when they are refused, quoted in an error, lost or sent', async () => {
      const id = await failedPayout();
      // Typed on the page: incomplete, of the wrong method, and in the address by mistake.
      await viewer.post(`/payouts/${id}/retry`, { ...seen, method: 'sepa', ...SEPA, bic: '' });
      await viewer.post(`/payouts/${id}/retry`, { ...seen, method: 'pix_key', ...ACH });
      await viewer.postRaw(`/payouts/${id}/retry`, { ...seen, method: 'sepa', ...SEPA });
      await viewer.get(`/payouts/${id}/retry?${new URLSearchParams({ method: 'ach', ...ACH })}`);
      // The service quotes what was sent.
      for (const status of [400, 422, 500]) {
        quote(status);
        const { html } = await viewer.post(`/payouts/${id}/retry`, {
          ...seen,
          method: 'ach',
          ...ACH,
        });
        for (const text of TYPED) expect(html).not.toContain(text);
        await callApi(id, { payout_method_data: { bank_transfer: ach } });
        await retryByCommand(id, JSON.stringify({ bank_transfer: ach }));
      }
      proxy.standIns.clear();
      // Read by nobody: not JSON, and no method of the contract.
      await retryByCommand(id, `{"bank_transfer": {"iban": "${IBAN}"`);
      await retryByCommand(id, JSON.stringify({ bank_transfer: { ...ach, iban_typed: IBAN } }));
      await callApi(id, { payout_method_data: { bank_transfer: { ...ach, iban_typed: IBAN } } });
      await callApi(id, { payout_method_data: { bank_transfer: ach }, [IBAN]: HOLDER });

      const other = await failedPayout();
      const done = await viewer.post(`/payouts/${other}/retry`, { ...seen, method: 'ach', ...ACH });
      expect(done.location).toContain('/payouts/');
      await deliverWebhooks();

      const sent = proxy.requests.filter(({ path }) => path === '/payouts/create');
      expect(sent.length).toBeGreaterThan(3);
      for (const { body } of sent) expect(body).toContain(NUMBER);
      const jobs = await readJobs();
      expect(jobs.length).toBeGreaterThan(100);
      expect(lines.join('')).toContain('console.listening');
      for (const text of TYPED) {
        expect(jobs.includes(text)).toBe(false);
        expect(lines.filter((line) => line.includes(text))).toEqual([]);
        expect(await tablesWith(db, text)).toEqual([]);
      }
      const entries = await db.query<{ text: string }>('select a::text as text from audit a');
      expect(entries.some(({ text }) => text.includes(other))).toBe(true);
    });
  },
);

const ach = { payout_method_type: 'ach', ...ACH };

async function start(queueUrl: string | undefined): Promise<void> {
  const service = {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: proxy.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
  };
  env = settingsFor(db.url, service);
  tallyhook = await startTallyhook({
    db,
    redisUrl: queueUrl,
    env: { ...service, WEBHOOK_SECRETS: SANDBOX_SECRET },
    log: createLog('trace', (line) => lines.push(line)),
  });
  cleanups.push(() => tallyhook.close());
  viewer = await openPages(tallyhook);
}

/** Every command that Redis gets. */
async function watchRedis(): Promise<() => Promise<string>> {
  const client = new Redis(redisUrl ?? '');
  const monitor = await client.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, args: readonly string[]) => commands.push(args.join(' ')));
  cleanups.push(() => {
    monitor.disconnect();
    client.disconnect();
  });
  return () => Promise.resolve(commands.join('\n'));
}

/**
 * Jobs that are done are removed: what was written to their tables is kept beside them. The queue is in use, so that
 * each trigger has a transaction of its own: one with the locks of several tables can deadlock with those of the queue.
 */
async function keepJobs(): Promise<void> {
  await db.query(`
    create table kept_jobs (text text);
    create function keep_job() returns trigger language plpgsql security definer set search_path = public as
      $$ begin insert into kept_jobs values (new::text); return null; end $$`);
  const tables = await db.query<{ name: string }>(
    `select format('bullmq.%I', tablename) name from pg_tables where schemaname = 'bullmq'`,
  );
  for (const { name } of tables) {
    await db.query(
      `create trigger keep after insert or update on ${name} for each row execute function public.keep_job()`,
    );
  }
}

async function watchTables(): Promise<string> {
  const rows = await db.query<{ text: string }>('select text from kept_jobs');
  return rows.map(({ text }) => text).join('\n');
}

/** The service refuses a new payout, and quotes the account. */
function quote(status: number): void {
  const { bank_account_number: number, bank_routing_number: routing } = ACH;
  const message = `account ${number} of ${HOLDER.toUpperCase()} or ${HOLDER} at ${routing} is not valid`;
  const error = { type: 'invalid_request', code: 'IR_06', message };
  proxy.standIns.set('/payouts/create', { status, body: { error } });
}

async function failedPayout(): Promise<string> {
  const account = {
    payout_method_type: 'sepa',
    iban: 'DE89370400440532013000',
    bic: 'COBADEFFXXX',
  };
  const { body } = await sandbox.call('POST', '/payouts/create', {
    amount: 2500,
    currency: 'EUR',
    confirm: true,
    customer: { id: 'cus_1' },
    payout_type: 'bank',
    payout_method_data: { bank_transfer: account },
  });
  await sandbox.call('POST', `/_sandbox/payouts/${body.payout_id}/move`, { status: 'failed' });
  await deliverWebhooks();
  await waitFor('the failed payout', async () => {
    const path = `/payouts/${body.payout_id}`;
    return (await viewer.get(path)).html.includes('failed');
  });
  return body.payout_id;
}

async function deliverWebhooks(): Promise<void> {
  await sandbox.advance(1_000);
  const { received } = sandbox.listener;
  for (const { body, signature = '' } of received.slice(delivered)) {
    const { status } = await tallyhook.deliver(body, { 'X-Webhook-Signature-512': signature });
    expect(status).toBe(200);
    delivered += 1;
  }
}

async function callApi(id: string, body: object): Promise<void> {
  await fetch(`http://127.0.0.1:${tallyhook.consolePort}/api/v1/payouts/${id}/retry`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...seenByApi, ...body }),
  });
}

/** Typed into a file, and on standard input. */
async function retryByCommand(id: string, text: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-'));
  const file = join(folder, 'account.json');
  writeFileSync(file, text);
  for (const method of [file, '-']) {
    const args = ['payouts', 'retry', id, '--method', method, '--reason', 'fixed', '--yes'];
    const { stdout, stderr } = await runTallyhook(args, { env, input: text });
    for (const typed of TYPED) expect(stdout + stderr).not.toContain(typed);
  }
  rmSync(folder, { recursive: true });
}
