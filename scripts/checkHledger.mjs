/**
 * check-hledger.sh runs this once hledger is installed and dist/ is built. The ledger is made of
 * events that pass through inbox, worker, merge and journal as usual.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HLEDGER_ACCOUNTS } from '../dist/src/ledger/domain/hledger.js';
import { createEventApplier } from '../dist/src/ledger/inbox/applyEvents.js';
import { createLedgerMetrics } from '../dist/src/ledger/metrics.js';
import { systemClock } from '../dist/src/platform/clock.js';
import { createDatabase } from '../dist/src/platform/db/database.js';
import { migrateDatabase } from '../dist/src/platform/db/migrate.js';
import { startEmbeddedPostgres } from '../dist/src/platform/embeddedPostgres/index.js';
import { createLog } from '../dist/src/platform/log.js';
import { createMetrics } from '../dist/src/platform/metrics.js';
import { readEnvelope } from '../dist/src/receiver/envelope.js';
import { storeBatch } from '../dist/src/receiver/storeBatch.js';

const MERCHANT = 'merchant_hledger';
const ORDERS = 400;
const CURRENCIES = ['USD', 'EUR', 'JPY', 'ISK', 'KWD', 'BHD', 'CLF', 'UYW'];
/** Ids that hledger would misread if they were not encoded. */
const ODD_IDS = [
  'with  two spaces',
  'a;comment',
  'tag:value, other:x',
  '[2020-01-01]',
  '=1+1',
  'date:2020-01-01',
  'über|größe "quoted" \\ 100%',
];
const LARGEST = Number.MAX_SAFE_INTEGER;

let random = 20_261_101;
/** A seeded generator, so that every run builds the same ledger. */
function pick(items) {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
  return items[random % items.length];
}

let seconds = 0;
function now() {
  seconds += 1;
  return new Date(Date.UTC(2026, 9, 1) + seconds * 1000).toISOString();
}

function manualStates(base) {
  const { amount } = base;
  const first = Math.floor(amount / 3);
  const held = {
    status: 'requires_capture',
    capture_method: 'manual',
    amount_capturable: amount,
    amount_received: 0,
  };
  const part = {
    ...held,
    status: 'partially_captured_and_capturable',
    amount_capturable: amount - first,
    amount_received: first,
  };
  const end = pick([
    { ...part, status: 'succeeded', amount_capturable: 0, amount_received: amount },
    { ...part, status: 'partially_captured', amount_capturable: 0 },
    { ...part, status: 'expired', amount_capturable: 0 },
    { ...part, status: 'cancelled_post_capture', amount_capturable: 0 },
    part,
  ]);
  return [held, part, end];
}

function automaticStates({ amount }) {
  const failed = { status: 'failed', amount_received: 0, unified_code: 'UE_1001' };
  const paid = { status: 'succeeded', amount_received: amount };
  return pick([
    [{ status: 'processing' }, paid],
    [failed, paid],
    [failed],
    [paid, { ...paid, status: 'cancelled_post_capture' }],
    // Counted provisionally, then replaced by less: the leg shrinks.
    [{ status: 'succeeded' }, { status: 'succeeded', amount_received: Math.ceil(amount / 2) }],
  ]);
}

const CHILD_STATES = {
  refund: [['pending', 'succeeded'], ['succeeded', 'failed'], ['pending'], ['failed']],
  dispute: [
    ['dispute_opened', 'dispute_won'],
    ['dispute_opened', 'dispute_lost'],
    ['dispute_opened'],
  ],
  payout: [
    ['requires_confirmation', 'initiated', 'success'],
    ['initiated', 'success', 'reversed'],
    ['pending', 'failed'],
    ['initiated'],
  ],
};

function child(kind, fields, statusField = 'status') {
  return pick(CHILD_STATES[kind]).map((status) => ({
    kind,
    object: { ...fields, [statusField]: status, modified_at: now() },
  }));
}

function orderEvents(number) {
  const currency = CURRENCIES[number % CURRENCIES.length];
  const isLargest = number < 3 * CURRENCIES.length;
  const amount = isLargest ? LARGEST : pick([0, 1, 5, 999, 1000, 6540, 123_456_789]);
  const oddId = ODD_IDS[number % ODD_IDS.length];
  const payment = {
    payment_id: `pay_${number} ${oddId}`,
    amount,
    currency,
    created: now(),
    metadata: { order_id: `${oddId} ${number}` },
  };
  const states = pick([manualStates, automaticStates])(payment);
  const events = states.map((state) => ({
    kind: 'payment',
    object: { ...payment, ...state, modified_at: now() },
  }));
  if (isLargest) return events;
  const ids = { payment_id: payment.payment_id, currency };
  const part = Math.ceil(amount / 4);
  return [
    ...events,
    ...child('refund', { ...ids, refund_id: `ref_${number}`, amount: part }),
    ...child(
      'dispute',
      { ...ids, dispute_id: `dp_${number}`, amount: String(part), dispute_stage: 'dispute' },
      'dispute_status',
    ),
    ...child('payout', { payout_id: `po_${number}`, amount: part, currency }),
  ];
}

async function fill(db) {
  const bodies = Array.from({ length: ORDERS }, (_unused, number) => orderEvents(number))
    .flat()
    .map(({ kind, object }, number) =>
      Buffer.from(
        JSON.stringify({
          merchant_id: MERCHANT,
          event_id: `evt_${number} ${ODD_IDS[number % ODD_IDS.length]}`,
          event_type: `${kind}_changed`,
          content: { type: `${kind}_details`, object },
          timestamp: object.modified_at,
        }),
      ),
    );
  const applier = createEventApplier({
    db,
    merchantId: MERCHANT,
    clock: systemClock,
    metrics: createLedgerMetrics(createMetrics()),
  });
  // One by one would post each state, batches of all would post only the last: some of both.
  for (let start = 0; start < bodies.length; ) {
    const batch = bodies.slice(start, start + pick([1, 2, 7, 40]));
    start += batch.length;
    const events = batch.map((body) => ({
      ...readEnvelope(body),
      body,
      bodyHash: createHash('sha256').update(body).digest(),
    }));
    const stored = await storeBatch(db, events, new Date());
    await applier.applyBatch(stored.map(({ toEnqueue }) => toEnqueue));
  }
  return bodies.length;
}

/** Our balances, by the database: minor units by account and currency. */
async function ownBalances(db) {
  const rows = await db.query(
    `select account, currency, sum(amount)::text as balance
       from (select debit as account, currency, amount_minor as amount from transfers
              union all
             select credit, currency, -amount_minor from transfers) as postings
      group by account, currency`,
  );
  return new Map(
    rows.map(({ account, currency, balance }) => [
      `${HLEDGER_ACCOUNTS[account].name} ${currency}`,
      BigInt(balance),
    ]),
  );
}

function hledger(file, ...args) {
  return execFileSync('hledger', ['-f', file, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, LANG: 'C.UTF-8' },
  });
}

/** hledger's balances; its decimals show whether it knows how each currency is written. */
function theirBalances(file) {
  const csv = hledger(
    file,
    'balance',
    '--flat',
    '--empty',
    '--no-total',
    '--layout=bare',
    '-O',
    'csv',
  );
  const lines = csv.trim().split('\n').slice(1);
  return new Map(
    lines
      .map((line) => line.split(',').map((field) => field.replaceAll('"', '')))
      .filter(([, currency]) => currency !== '')
      .map(([account, currency, balance]) => [
        `${account} ${currency}`,
        BigInt(balance.replace('.', '')),
      ]),
  );
}

function compare(ours, theirs) {
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  const differing = [...names].filter(
    (name) => (ours.get(name) ?? 0n) !== (theirs.get(name) ?? 0n),
  );
  for (const name of differing) {
    console.error(
      `${name}: ours ${ours.get(name) ?? 0n}, hledger's ${theirs.get(name) ?? 0n} (minor units)`,
    );
  }
  return { compared: names.size, differing: differing.length };
}

/** Whether hledger reads the ids as they were meant: each description and tag, taken apart again. */
async function compareIds(db, file) {
  const rows = await db.query(
    `select t.kind, t.resource_id as "resourceId", t.leg, t.leg_seq as seq, e.event_id as "eventId",
            o.order_id as "orderId"
       from transfers t
       join webhook_events e on e.id = t.webhook_event_id
       join resources r on r.kind = t.kind and r.id = t.resource_id
       left join orders o using (order_key)`,
  );
  const read = (...args) =>
    new Set(
      hledger(file, ...args)
        .trim()
        .split('\n'),
    );
  const ids = (values) => new Set([...values].map(decodeURIComponent));
  const described = ({ kind, resourceId, leg, seq }) => `${kind} ${resourceId} ${leg} ${seq}`;
  const pairs = [
    [new Set([...rows.map(described), 'balances']), ids(read('descriptions'))],
    [new Set(rows.map(({ eventId }) => eventId)), ids(read('tags', '--values', 'event'))],
    [new Set(rows.flatMap(({ orderId }) => orderId ?? [])), ids(read('tags', '--values', 'order'))],
  ];
  const missing = pairs.flatMap(([ours, theirs]) => [...ours].filter((id) => !theirs.has(id)));
  for (const id of missing.slice(0, 5)) console.error(`hledger does not read ${id}`);
  const count = pairs.reduce((sum, [ours]) => sum + ours.size, 0);
  return { count, missing: missing.length + pairs.filter(([a, b]) => a.size !== b.size).length };
}

const folder = mkdtempSync(join(tmpdir(), 'tallyhook-hledger-'));
const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => undefined });
const db = createDatabase({
  connectionString: server.connectionString,
  log: createLog('error'),
  applicationName: 'check-hledger',
  maxConnections: 4,
  responseTimeoutMs: 60_000,
  plans: 'any',
});
try {
  await migrateDatabase(server.connectionString);
  const events = await fill(db);
  const file = join(folder, 'ledger.journal');
  execFileSync(
    process.execPath,
    ['bin/tallyhook.js', 'export', 'journal', '--format', 'hledger', '--output', file],
    { env: { ...process.env, DATABASE_URL: server.connectionString }, stdio: 'inherit' },
  );
  hledger(file, 'check', '--strict');
  const ours = await ownBalances(db);
  const { compared, differing } = compare(ours, theirBalances(file));
  const ids = await compareIds(db, file);
  const transactions = readFileSync(file, 'utf8').match(/^\d{4}-\d\d-\d\d /gm)?.length ?? 0;
  const balances = [...ours.values()].map((value) => (value < 0n ? -value : value));
  const largest = balances.sort((a, b) => (a < b ? 1 : -1))[0];
  console.log(hledger(file, '--version').trim());
  console.log(
    `${events} events, ${transactions - 1} transfers, ${CURRENCIES.length} currencies, accepted by hledger check --strict`,
  );
  console.log(
    `${compared} balances compared, ${differing} differ; the largest is ${largest} minor units (2^53 - 1 is ${LARGEST})`,
  );
  console.log(`${ids.count} descriptions and tags read back, ${ids.missing} differ`);
  if (differing + ids.missing > 0 || compared === 0) process.exitCode = 1;
} finally {
  await db.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
