/**
 * The store behind the sandbox: what it keeps, and not where. `postgres/` keeps it in a database,
 * `memory/` in this process. The conformance suite runs against both.
 *
 * 1. A transaction is committed when its work returns, and leaves nothing when its work throws.
 * 2. A statement sees what is committed, and what its own transaction wrote.
 * 3. What a transaction locked is changed by no other one until it ends.
 */
import type { AccountStatements } from './account.ts';
import type { AllResourceStatements } from './allResources.ts';
import type { AnalyticsStatements } from './analytics.ts';
import type { ApiKeyStatements } from './apiKeys.ts';
import type { CustomerStatements } from './customers.ts';
import type { FileStatements } from './files.ts';
import type { ListStatements } from './lists.ts';
import type { PaymentLinkStatements } from './paymentLinks.ts';
import type { ResourceStatements } from './resources.ts';
import type { WebhookStatements } from './webhooks.ts';

export interface Statements
  extends AccountStatements,
    AllResourceStatements,
    AnalyticsStatements,
    ApiKeyStatements,
    CustomerStatements,
    FileStatements,
    ListStatements,
    PaymentLinkStatements,
    ResourceStatements,
    WebhookStatements {}

export interface Store extends Statements {
  /** Runs `work` in one transaction. It uses the statements that it is given, and no others. */
  transaction<T>(work: (tx: Statements) => Promise<T>): Promise<T>;
}
