/** Builds everything that calls the payment service, for roles and for commands. */

import { lockPersonsAttempt } from '../actions/captureOrCancel.ts';
import type { Confirm } from '../alerts/confirm.ts';
import type { AuthorizationService } from '../authorizations/authorizationService.ts';
import {
  type AuthorizationCheck,
  createAuthorizationCheck,
} from '../authorizations/checkAuthorizations.ts';
import {
  createAuthorizationService,
  type ServiceOptions,
} from '../authorizations/createAuthorizationService.ts';
import { createClient, type PaymentServiceClient } from '../client/index.ts';
import type { Config } from '../config/config.ts';
import { createSandboxControl } from '../demo/control.ts';
import type { Shop } from '../demo/shop.ts';
import { createDisputeService, type DisputeService } from '../disputes/disputeService.ts';
import type { Account } from '../ledger/domain/account.ts';
import { createPayoutService, type PayoutService } from '../payouts/payoutService.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import { toError, UsageError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { sleep } from '../platform/sleep.ts';
import { createConfirm } from '../reconcile/confirm.ts';
import type { DiscoveryParts } from '../reconcile/discoverPayments.ts';
import { createReconcileMetrics } from '../reconcile/metrics.ts';
import { createRefresh, type Refresh } from '../reconcile/refresh.ts';
import { createRefresher, type Refresher } from '../reconcile/refreshOnRead.ts';
import { createRetrieve } from '../reconcile/retrieve.ts';
import { createReconcile, type Reconcile } from '../reconcile/run.ts';
import { createSharedBudget } from '../reconcile/sharedBudget.ts';
import { isPaused } from '../reconcile/store/pauses.ts';
import { createRefundService, type RefundService } from '../refunds/refundService.ts';
import { SANDBOX_PROFILE_ID } from '../sandbox/account.ts';
import { rateSettingsOf, sandboxOf, serviceOf } from './settings.ts';

/** What every caller of the service needs. */
interface ServiceParts {
  readonly db: Database;
  readonly clock: Clock;
}

interface AuthorizationOptions extends ServiceParts, ServiceOptions {
  readonly log: Log;
}

/** The check of authorizations, and its access to the service. */
export function authorizationsOf(
  config: Config,
  { db, clock, log, ...options }: AuthorizationOptions,
): { readonly check: AuthorizationCheck; readonly service: AuthorizationService | undefined } {
  const client = clientOf(config, { db, clock });
  const account = accountOf(config);
  const service = client && createAuthorizationService({ db, client, clock, account }, options);
  const check = createAuthorizationCheck({
    db,
    clock,
    log,
    thresholds: config.authorizationThresholdHours,
    policy: config.authorizationPolicy,
    service,
    isPaused: () => isPaused(db),
    lockPersonsAttempt,
  });
  return { check, service };
}

/**
 * A client of the payment service, with the rate budget that all processes share; undefined when no
 * key is set.
 * @throws UsageError when the base URL or key is not usable
 */
export function clientOf(
  config: Config,
  { db, clock }: ServiceParts,
): PaymentServiceClient | undefined {
  const service = serviceOf(config);
  if (service === undefined) return undefined;
  try {
    const budget = createSharedBudget(db, clock, rateSettingsOf(config));
    return createClient({ ...service, budget });
  } catch (error) {
    throw new UsageError(
      `PAYMENTS_BASE_URL or PAYMENTS_API_KEY is not usable: ${toError(error).message}. ` +
        'Run `npx tallyhook doctor` for details.',
    );
  }
}

/** The account that responses of the service are compared with. */
export function accountOf({ merchantId, profileId }: Config): Account {
  return { merchantId, profileId };
}

/** The sandbox for the console; undefined where the payments may be real. */
export function sandboxShopOf(config: Config): Shop | undefined {
  const sandbox = sandboxOf(config);
  return (
    sandbox && {
      client: createClient({ ...sandbox, retry: { maxAttempts: 2, totalTimeoutMs: 10_000 } }),
      control: createSandboxControl(sandbox.baseUrl),
      profileId: SANDBOX_PROFILE_ID,
    }
  );
}

/** Refunds of a person; undefined when no key is set. */
export function refundsOf(config: Config, parts: ServiceParts): RefundService | undefined {
  const client = clientOf(config, parts);
  return client && createRefundService({ ...parts, client, account: accountOf(config) });
}

/** Disputes of a person; undefined when no key is set. */
export function disputesOf(config: Config, parts: ServiceParts): DisputeService | undefined {
  const client = clientOf(config, parts);
  return client && createDisputeService({ ...parts, client, account: accountOf(config) });
}

/** Payouts of a person; undefined when no key is set. */
export function payoutsOf(config: Config, parts: ServiceParts): PayoutService | undefined {
  const client = clientOf(config, parts);
  return client && createPayoutService({ ...parts, client, account: accountOf(config) });
}

/** Reconciliation and refresh, for a command or a role. */
export function reconcileOf(
  client: PaymentServiceClient,
  parts: ServiceParts & {
    readonly account: Account;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): { readonly reconcile: Reconcile; readonly refresh: Refresh } {
  const metrics = createReconcileMetrics(parts.metrics);
  const retrieve = createRetrieve({ ...parts, client });
  const all = { ...parts, client, retrieve, metrics, sleep };
  return { reconcile: createReconcile(all), refresh: createRefresh(all) };
}

/** Retrieves what people are about to be alerted about; undefined when no key is set. */
export function confirmOf(
  config: Config,
  parts: ServiceParts & { readonly log: Log; readonly signal: AbortSignal },
): Confirm | undefined {
  const client = clientOf(config, parts);
  return client && createConfirm({ ...parts, client, account: accountOf(config) });
}

/** Undefined when no key is set. */
export function refresherOf(config: Config, parts: ServiceParts): Refresher | undefined {
  const client = clientOf(config, parts);
  return client && createRefresher(discoveryPartsOf(config, client, parts));
}

/**
 * What a command needs to find and retrieve resources that are not in the ledger.
 * @throws UsageError when no key is set
 */
export function discoveryOf(config: Config, parts: ServiceParts): DiscoveryParts {
  const client = clientOf(config, parts);
  if (client) return discoveryPartsOf(config, client, parts);
  throw new UsageError(
    'No key of the payment service is set, so Tallyhook cannot call it. Set PAYMENTS_BASE_URL and PAYMENTS_API_KEY.',
  );
}

function discoveryPartsOf(
  config: Config,
  client: PaymentServiceClient,
  parts: ServiceParts,
): DiscoveryParts {
  const account = accountOf(config);
  return { ...parts, client, retrieve: createRetrieve({ ...parts, client, account }) };
}
