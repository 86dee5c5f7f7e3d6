/**
 * The adapter of @supabase/stripe-sync-engine, which writes what webhooks of Stripe contain to tables.
 *
 * It verifies an event and upserts the one object in it, guarded by the event's time in whole seconds,
 * before it returns. It keeps no events. With no objects to revalidate, its default, it calls nobody for the
 * events below.
 */
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Change } from '../changes.ts';
import type { EventFormat } from '../events.ts';
import { compiled } from '../processes.ts';
import type { Peer, Rows } from './peer.ts';

const NAME = '@supabase/stripe-sync-engine';
/** Where it makes its tables, as its migrations name it. */
const SCHEMA = 'stripe';

/** Its default, and what its README names. Receiver and worker of Tallyhook have four each that handle events. */
const MAX_CONNECTIONS = 10;

/** The part of the package that is used here. */
interface StripeSyncModule {
  readonly StripeSync: new (config: {
    readonly schema: string;
    readonly stripeSecretKey: string;
    readonly stripeWebhookSecret: string;
    readonly poolConfig: { readonly connectionString: string; readonly max: number };
  }) => StripeSync;
  runMigrations(config: {
    readonly schema: string;
    readonly databaseUrl: string;
    readonly logger: { info(): void; error(error: unknown): void };
  }): Promise<void>;
}

interface StripeSync {
  /** Rejects for a wrong signature, and where the database fails. */
  processWebhook(payload: Buffer, signature: string | undefined): Promise<void>;
}

export const STRIPE_SIGNATURE_HEADER = 'stripe-signature';

export function createStripeSync(options: {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly webhookSecret: string;
}): StripeSync {
  const { StripeSync } = loadModule(options.folder);
  return new StripeSync({
    schema: SCHEMA,
    stripeSecretKey: 'sk_test_unused',
    stripeWebhookSecret: options.webhookSecret,
    poolConfig: { connectionString: options.databaseUrl, max: MAX_CONNECTIONS },
  });
}

/** Loads the CommonJS build: `runMigrations` of the other one needs `__dirname`, which ES modules lack. */
function loadModule(folder: string): StripeSyncModule {
  return createRequire(join(folder, 'package.json'))(NAME) as StripeSyncModule;
}

const format: EventFormat = {
  bodyOf: (eventId, { payment, step, changedMs }) => ({
    id: eventId,
    object: 'event',
    api_version: '2020-08-27',
    created: seconds(changedMs),
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type: EVENT_TYPES[step],
    data: { object: objectOf({ payment, step, changedMs }) },
  }),
  signatureOf: (body, secret) => {
    const timestamp = seconds(Date.now());
    const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
    return `${STRIPE_SIGNATURE_HEADER}: t=${timestamp},v1=${digest}`;
  },
};

const EVENT_TYPES: Readonly<Record<Change['step'], string>> = {
  processing: 'payment_intent.processing',
  succeeded: 'payment_intent.succeeded',
  authorized: 'payment_intent.amount_capturable_updated',
  captured: 'payment_intent.succeeded',
  failed: 'payment_intent.payment_failed',
  refunded: 'refund.created',
};

const REFUNDS = 'refunds';

/** The status that a payment has after a step; a refund does not change it. */
const STATUSES: Readonly<Record<Exclude<Change['step'], 'refunded'>, string>> = {
  processing: 'processing',
  succeeded: 'succeeded',
  authorized: 'requires_capture',
  captured: 'succeeded',
  failed: 'requires_payment_method',
};

function objectOf({ payment, step, changedMs }: Change): object {
  const { amountMinor, createdMs, key, orderId } = payment;
  if (step === 'refunded') {
    return {
      id: `re_${key}`,
      object: 'refund',
      amount: Math.ceil(amountMinor / 2),
      balance_transaction: `txn_${key}`,
      charge: `ch_${key}`,
      created: seconds(changedMs),
      currency: 'usd',
      metadata: { order_id: orderId, channel: 'web', desk: 'returns' },
      payment_intent: `pi_${key}`,
      reason: 'requested_by_customer',
      receipt_number: null,
      status: 'succeeded',
    };
  }
  const isManual = step === 'authorized' || step === 'captured';
  return {
    id: `pi_${key}`,
    object: 'payment_intent',
    amount: amountMinor,
    amount_capturable: step === 'authorized' ? amountMinor : 0,
    amount_received: STATUSES[step] === 'succeeded' ? amountMinor : 0,
    client_secret: `pi_${key}_secret_7Kq2mVx9TzLw4RbN`,
    capture_method: isManual ? 'manual' : 'automatic',
    confirmation_method: 'automatic',
    created: seconds(createdMs),
    currency: 'usd',
    customer: 'cus_5fQ8yWn3',
    description: 'Two articles',
    livemode: false,
    metadata: { order_id: orderId, channel: 'web' },
    payment_method: `pm_${key}`,
    payment_method_types: ['card'],
    status: STATUSES[step],
    ...(step === 'failed' && { last_payment_error: { type: 'card_error', code: 'card_declined' } }),
  };
}

function seconds(millis: number): number {
  return Math.floor(millis / 1_000);
}

/** Payments by the status of their newest event, and refunds. */
function expectRows(nextChange: () => Change, count: number): Rows {
  const statuses = new Map<string, string>();
  let refunds = 0;
  for (let n = 0; n < count; n += 1) {
    const { payment, step } = nextChange();
    if (step === 'refunded') refunds += 1;
    else statuses.set(payment.key, STATUSES[step]);
  }
  const rows: Record<string, number> = { [REFUNDS]: refunds };
  for (const status of statuses.values()) rows[status] = (rows[status] ?? 0) + 1;
  return rows;
}

export const stripeSyncEngine: Peer = {
  name: NAME,
  version: '0.48.5',
  // The driver is the one that Tallyhook uses.
  besides: ['stripe@23.1.0', 'pg@8.23.1'],
  format,
  serverFile: compiled('bench/peers/stripeSyncEngineServer.js'),
  migrate: (folder, databaseUrl) =>
    loadModule(folder).runMigrations({
      schema: SCHEMA,
      databaseUrl,
      logger: {
        info: () => undefined,
        // It logs a failure and returns.
        error: (error) => {
          throw error;
        },
      },
    }),
  expectRows,
  countRows: async (db) => {
    const rows = await db.query<{ name: string; count: number }>(
      `select status as name, count(*) as count from stripe.payment_intents group by status
       union all
       select $1, count(*) from stripe.refunds`,
      [REFUNDS],
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  },
};
