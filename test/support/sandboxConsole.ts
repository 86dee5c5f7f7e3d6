/** Tallyhook with a sandbox as its payment service, as `npm start` runs it. */
import type { Role } from '../../src/assembly/roles.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { SANDBOX_SECRET, startTestSandbox, type TestSandbox } from './sandbox.ts';
import { startTallyhook, type TestTallyhook } from './tallyhook.ts';

export interface SandboxConsole {
  readonly db: TestDatabase;
  readonly sandbox: TestSandbox;
  readonly tallyhook: TestTallyhook;
  close(): Promise<void>;
}

const ROLES: readonly Role[] = ['receiver', 'events', 'reconcile', 'alerts', 'console'];

/** @param roles without `receiver`, the ledger learns of the sandbox by a refresh only */
export async function startSandboxConsole(roles = ROLES): Promise<SandboxConsole> {
  const db = await createTestDatabase();
  const sandbox = await startTestSandbox();
  const tallyhook = await startTallyhook({
    db,
    roles,
    env: {
      PAYMENTS_MERCHANT_ID: sandbox.merchantId,
      PAYMENTS_BASE_URL: sandbox.baseUrl,
      PAYMENTS_API_KEY: sandbox.apiKey,
      WEBHOOK_SECRETS: SANDBOX_SECRET,
    },
  });
  if (roles.includes('receiver')) {
    await sandbox.control('PUT', '/webhook', { url: tallyhook.webhookUrl, secret: SANDBOX_SECRET });
  }
  return {
    db,
    sandbox,
    tallyhook,
    close: async () => {
      await tallyhook.close();
      await sandbox.close();
      await db.drop();
    },
  };
}
