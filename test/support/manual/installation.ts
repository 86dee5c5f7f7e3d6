/** The installation of the manual: all roles in this process, with a sandbox, a shop and a channel of alerts. */
import { createServer } from 'node:http';
import pg from 'pg';
import { ROLES } from '../../../src/assembly/roles.ts';
import { createTestDatabase } from '../database.ts';
import { settingsFor } from '../program.ts';
import { SANDBOX_SECRET, startTestSandbox } from '../sandbox.ts';
import { ADMIN_TOKEN, startTallyhook } from '../tallyhook.ts';
import type { SessionOptions } from './session.ts';

export interface ManualInstallation extends SessionOptions {
  /** Executes a query as another role, and changes nothing. */
  queryAs(role: string, sql: string): Promise<void>;
  close(): Promise<void>;
}

const CHANNEL_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export async function startInstallation(): Promise<ManualInstallation> {
  const db = await createTestDatabase();
  const owner = new pg.Client({ connectionString: db.url });
  await owner.connect();
  const sandbox = await startTestSandbox();
  const shop = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  const address = shop.address();
  const shopPort = typeof address === 'object' && address !== null ? address.port : Number.NaN;
  const settings = {
    PAYMENTS_MERCHANT_ID: sandbox.merchantId,
    PAYMENTS_BASE_URL: sandbox.baseUrl,
    PAYMENTS_API_KEY: sandbox.apiKey,
    WEBHOOK_SECRETS: SANDBOX_SECRET,
    ALERT_WEBHOOK_URL: `http://127.0.0.1:${shopPort}/alerts`,
    ALERT_WEBHOOK_SECRET: CHANNEL_SECRET,
  };
  const tallyhook = await startTallyhook({
    db,
    roles: ROLES.filter((role) => role !== 'sandbox'),
    env: settings,
  });
  await sandbox.control('PUT', '/webhook', { url: tallyhook.webhookUrl, secret: SANDBOX_SECRET });
  const portOf = (url: string): number => Number(new URL(url).port);
  return {
    env: {
      ...settingsFor(db.url, settings),
      PORT: String(portOf(tallyhook.webhookUrl)),
      ADMIN_PORT: String(tallyhook.consolePort),
      LOG_LEVEL: 'error',
    },
    ports: {
      3000: shopPort,
      8080: portOf(tallyhook.webhookUrl),
      8081: tallyhook.consolePort ?? Number.NaN,
      8082: portOf(sandbox.baseUrl),
      8083: portOf(tallyhook.healthUrl),
    },
    files: {
      '.tallyhook/webhook-secret': SANDBOX_SECRET,
      '.tallyhook/admin-token': ADMIN_TOKEN,
      '.tallyhook/sandbox-api-key': sandbox.apiKey,
    },
    query: async (sql) => {
      for (const statement of statementsOf(sql)) await owner.query(statement);
    },
    queryAs: async (role, sql) => {
      await owner.query(`begin; set local role ${role}; ${sql}; rollback`);
    },
    close: async () => {
      await tallyhook.close();
      await sandbox.close();
      await new Promise((resolve) => shop.close(resolve));
      await owner.end();
      await db.drop();
    },
  };
}

function statementsOf(sql: string): readonly string[] {
  // One by one: a database cannot be created in the transaction that several statements are.
  return sql.split(';').filter((statement) => statement.trim() !== '');
}
