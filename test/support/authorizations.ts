/**
 * The sandbox, a ledger and the check of its authorizations, all on one clock that a test can advance.
 * Webhooks of the sandbox are applied as the receiver would apply them.
 */

import { lockPersonsAttempt } from '../../src/actions/captureOrCancel.ts';
import type { AuthorizationService } from '../../src/authorizations/authorizationService.ts';
import {
  type AuthorizationCheck,
  type AuthorizationCheckParts,
  createAuthorizationCheck,
} from '../../src/authorizations/checkAuthorizations.ts';
import { createAuthorizationService } from '../../src/authorizations/createAuthorizationService.ts';
import { createClient } from '../../src/client/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { isPaused } from '../../src/reconcile/store/pauses.ts';
import { silentLog } from './database.ts';
import { unique } from './events.ts';
import { readOpenFindings, receive, testApplier } from './ledger.ts';
import type { TestSandbox } from './sandbox.ts';
import { cardPayment } from './sandboxRequests.ts';

export interface LogEntry {
  readonly kind: string;
  readonly hours: number;
  readonly outcome: string | null;
}

export interface AuthorizationTestSetup {
  readonly clock: Clock;
  readonly check: AuthorizationCheck;
  /** Creates a payment with manual capture, and applies its webhooks. */
  authorize(fields?: object): Promise<string>;
  /** Advances both clocks. Webhooks sent in the meantime stay with the listener. */
  advance(ms: number): Promise<void>;
  /** Applies the webhooks that were sent since the last call. */
  applyWebhooks(): Promise<void>;
  logOf(paymentId: string): Promise<readonly LogEntry[]>;
  findings(paymentId: string): Promise<readonly string[]>;
}

export async function setUpAuthorizations(
  sandbox: TestSandbox,
  db: Database,
  options: Partial<AuthorizationCheckParts> & {
    readonly apiKey?: string;
    readonly signal?: AbortSignal;
    /** What is between the check and its service. */
    readonly around?: (service: AuthorizationService) => AuthorizationService;
  } = {},
): Promise<AuthorizationTestSetup> {
  const { now } = await sandbox.control('GET', '/clock');
  let aheadMs = Date.parse(now) - Date.now();
  const clock = { nowMs: () => Date.now() + aheadMs };
  let applied = 0;
  const applier = testApplier(db, sandbox.merchantId, clock);
  const { apiKey = sandbox.apiKey, signal, around = (service) => service, ...parts } = options;
  const retry = { maxAttempts: 2, totalTimeoutMs: 5_000, baseDelayMs: 1 };
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey, retry });
  const account = { merchantId: sandbox.merchantId, profileId: undefined };
  const check = createAuthorizationCheck({
    db,
    clock,
    log: silentLog,
    thresholds: [48, 24, 6, 1],
    policy: undefined,
    service: around(
      createAuthorizationService({ db, client, clock, account }, { lane: 'refresh', signal }),
    ),
    isPaused: () => isPaused(db),
    lockPersonsAttempt,
    ...parts,
  });
  const applyWebhooks = async (): Promise<void> => {
    await sandbox.control('POST', '/settle');
    const bodies = sandbox.listener.received.slice(applied);
    applied = sandbox.listener.received.length;
    const receivedAt = new Date(clock.nowMs());
    for (const { body } of bodies) await applier.applyBatch(await receive(db, [body], receivedAt));
  };
  return {
    clock,
    check,
    applyWebhooks,
    authorize: async (fields = {}) => {
      const request = {
        capture_method: 'manual',
        metadata: { order_id: unique('ord') },
        ...fields,
      };
      const { body } = await sandbox.call('POST', '/payments', cardPayment(request));
      await applyWebhooks();
      return body.payment_id;
    },
    advance: async (ms) => {
      aheadMs += ms;
      await sandbox.advance(ms);
    },
    logOf: (paymentId) =>
      db.query<LogEntry>(
        `select kind, threshold_hours as hours, outcome from authorization_log
          where payment_id = $1 order by id`,
        [paymentId],
      ),
    findings: async (paymentId) =>
      (await readOpenFindings(db, `payment:${paymentId}`)).map((finding) => finding.class),
  };
}
