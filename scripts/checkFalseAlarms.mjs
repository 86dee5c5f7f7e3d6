/**
 * What check-false-alarms.sh runs once dist/ is built: the demo as a user starts it, without loss and
 * repeats, in a folder of its own; then its alerts beside the sandbox's own rows.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../dist/src/platform/db/database.js';
import { startEmbeddedPostgres } from '../dist/src/platform/embeddedPostgres/index.js';
import { createLog } from '../dist/src/platform/log.js';

const [orders = '10000', seed = '21'] = process.argv.slice(2);

/** What must be true of a resource for a rule to speak of it, by the status in the sandbox. */
const TRUTH = {
  dispute_opened: () => true,
  dispute_changed: () => true,
  dispute_won: ({ status }) => status === 'won',
  dispute_lost: ({ status }) => status === 'lost',
  dispute_and_refund: ({ siblings }) => siblings.includes('refund'),
  refund_failed: ({ status }) => status === 'failed',
  payout_failed: ({ status }) => ['failed', 'reversed', 'cancelled', 'expired'].includes(status),
};

/**
 * Of which rules one must have spoken of a resource. A dispute that is won before anybody looked is
 * told as won.
 */
const OWED = {
  dispute: () => ['dispute_opened', 'dispute_won', 'dispute_lost'],
  refund: ({ status }) => (status === 'failed' ? ['refund_failed'] : []),
  payout: ({ status }) => (['failed', 'reversed'].includes(status) ? ['payout_failed'] : []),
  payment: () => [],
};

const dataDir = mkdtempSync(join(tmpdir(), 'tallyhook-alarms-'));
try {
  await playDemo();
  const { alerts, resources } = await readBooks();
  const wrong = alerts.filter((alert) => !isTrue(alert, resources));
  const said = new Set(alerts.map(({ rule, subject }) => `${rule} ${subject}`));
  const missing = [...resources.values()].flatMap((resource) => {
    const subject = `${resource.kind}:${resource.id}`;
    const owed = OWED[resource.kind](resource);
    const isSaid = owed.length === 0 || owed.some((rule) => said.has(`${rule} ${subject}`));
    return isSaid ? [] : [`${owed.join(' or ')} of ${subject}`];
  });
  console.log(`${orders} orders with seed ${seed}, ${resources.size} resources`);
  for (const [rule, count] of countBy(alerts, ({ rule }) => rule)) {
    console.log(`  ${rule.padEnd(24)} ${count}`);
  }
  for (const { rule, sentence } of wrong.slice(0, 20)) console.log(`FALSE ${rule}: ${sentence}`);
  for (const name of missing.slice(0, 20)) console.log(`MISSING ${name}`);
  console.log(`${alerts.length} alerts, ${wrong.length} false, ${missing.length} missing`);
  if (wrong.length > 0 || missing.length > 0) process.exitCode = 1;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}

async function playDemo() {
  const ports = await freePorts(3);
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: ports[0],
    ADMIN_PORT: ports[1],
    SANDBOX_PORT: ports[2],
  };
  const args = ['--orders', orders, '--seed', seed, '--loss', '0', '--duplicates', '0'];
  execFileSync('node', ['bin/tallyhook.js', 'demo', ...args, '--once'], { env, stdio: 'inherit' });
}

/** The client must know the sandbox's port before it listens, so 0 would not do. */
async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  const ports = servers.map((server) => String(server.address().port));
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

async function readBooks() {
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const db = createDatabase({
    connectionString: server.connectionString,
    log: createLog('silent'),
    applicationName: 'check-false-alarms',
    maxConnections: 1,
    answerTimeoutMs: 120_000,
    plans: 'any',
  });
  try {
    const alerts = await db.query('select rule, subject, sentence from alerts order by id');
    const rows = await db.query(
      `select kind, id, status,
              array(select s.kind from sandbox.resources s where s.parent_id = r.parent_id) as siblings
         from sandbox.resources r`,
    );
    const resources = new Map(rows.map((row) => [`${row.kind}:${row.id}`, row]));
    return { alerts, resources };
  } finally {
    await db.close();
    await server.stop();
  }
}

function isTrue({ rule, subject }, resources) {
  const resource = resources.get(subject);
  return resource !== undefined && (TRUTH[rule]?.(resource) ?? false);
}

function countBy(items, nameOf) {
  const counts = new Map();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return counts;
}
