/**
 * Every webhook that Tallyhook sends: to the shop about its orders, and to operators about alerts. The
 * sender, the JSON Schemas, the OpenAPI document and the reference are made from this table.
 */
import { z } from 'zod';
import { amount, currency, time } from './fields.ts';
import { orderFields, partFields } from './order.ts';
import { ORDER_EVENTS, type OrderStatus } from './orderStatuses.ts';

const orderData = z
  .strictObject({
    change: z
      .strictObject({
        number: z.int().min(1).describe("The change's number in the change feed; it only grows."),
        status: z.string().nullable().describe('The status after the change.'),
        previous_status: z.string().nullable().describe('Null for the first change of an order.'),
        changed_at: time,
      })
      .meta({ id: 'WebhookChange' }),
    order: z
      .strictObject({ ...orderFields, ...partFields })
      .describe('As of the moment in which the webhook was written. Never older than the change.')
      .meta({ id: 'WebhookOrder' }),
  })
  .meta({ id: 'OrderWebhookData' });

const severity = z.enum(['info', 'warning', 'critical']);
const notificationType = z.enum(['opened', 'reminder', 'resolved', 'opened_and_resolved']);
const url = z
  .string()
  .nullable()
  .describe('The page of the console to open; null if the console has no public address.');
const installation = z.string().describe('INSTALLATION_NAME.');

const alertFacts = {
  alert_id: z.int(),
  rule: z.string().describe('The rule that raised it; the runbook lists them. Rules may be added.'),
  subject: z.string().describe('What it is about, as kind and id.'),
  severity,
  type: notificationType,
  sentence: z.string().describe('What happened, for people.'),
  next_step: z.string().describe('What to do, for people.'),
  order_id: z.string().nullable(),
  payment_id: z.string().nullable(),
  amount: amount.nullable(),
  currency: currency.nullable(),
  deadline_at: time.nullable(),
  opened_at: time,
  resolved_at: time.nullable(),
  url,
};

const alertData = z.strictObject({ ...alertFacts, installation }).meta({ id: 'AlertWebhookData' });

const digestData = z
  .strictObject({
    severity: severity.describe('The highest of its alerts.'),
    count: z.int().min(1).describe('How many alerts it reports.'),
    groups: z.array(
      z
        .strictObject({
          rule: z.string(),
          type: notificationType,
          severity,
          count: z.int().min(1),
          sums: z.array(
            z.strictObject({
              currency,
              amount: amount.nullable().describe('Null if the sum is not exact.'),
            }),
          ),
        })
        .meta({ id: 'AlertGroup' }),
    ),
    urgent: z
      .array(z.strictObject(alertFacts).meta({ id: 'UrgentAlert' }))
      .describe('The first ones to look at.'),
    list: z.string().describe('The command that lists all alerts.'),
    installation,
    url,
  })
  .meta({ id: 'DigestWebhookData' });

const summaryData = z
  .strictObject({
    day: z.iso.date().describe('The UTC day before.'),
    currencies: z.array(
      z
        .strictObject({
          currency,
          amount_captured: amount,
          amount_refunded: amount,
          amount_disputed: amount,
          amount_paid_out: amount,
        })
        .meta({ id: 'DayTotals' }),
    ),
    open_findings: z.int().min(0),
    open_alerts: z.record(severity, z.int().min(0)),
    chain_head: z
      .string()
      .nullable()
      .describe(
        'Number and digest of the last block of the chain of the journal. Keep it: `tallyhook verify --chain --head` compares it later.',
      ),
    installation,
    url,
  })
  .meta({ id: 'SummaryWebhookData' });

const testData = z
  .strictObject({ message: z.string(), installation, url })
  .meta({ id: 'TestWebhookData' });

/** One type of webhook. */
export interface WebhookDefinition {
  /** When it is sent. */
  readonly when: string;
  readonly data: z.ZodType;
}

const orderWebhooks = Object.fromEntries(
  Object.entries(ORDER_EVENTS).map(([status, when]) => [
    `order.${status}`,
    { when: `The status of an order changes to \`${status}\`. ${when}`, data: orderData },
  ]),
) as Record<`order.${OrderStatus}`, { readonly when: string; readonly data: typeof orderData }>;

/** Every type, with when it is sent and what it carries. */
export const WEBHOOKS = {
  ...orderWebhooks,
  'order.updated': {
    when:
      'Money of an order changes within its status, as with a second partial refund, or a detail of an order ' +
      'changes of which nothing was sent yet.',
    data: orderData,
  },
  'alert.opened': { when: 'An alert opens.', data: alertData },
  'alert.reminder': { when: 'An alert is still open when a reminder is due.', data: alertData },
  'alert.resolved': { when: 'An alert is resolved.', data: alertData },
  'alert.opened_and_resolved': {
    when: 'An alert opened and was resolved before anyone was notified.',
    data: alertData,
  },
  'alert.digest': { when: 'Many alerts come at once: one message about all.', data: digestData },
  'summary.daily': { when: 'Once a day, at ALERT_SUMMARY_AT.', data: summaryData },
  test: { when: '`npx tallyhook alerts test`.', data: testData },
} as const satisfies Record<string, WebhookDefinition>;

/** The name of a type of webhook. */
export type WebhookType = keyof typeof WEBHOOKS;

/** The schema of a whole body. */
export function webhookSchema(type: WebhookType): z.ZodObject {
  return z.strictObject({
    type: z.literal(type),
    timestamp: time.describe('When it happened. Every attempt has the same value.'),
    data: WEBHOOKS[type].data,
  });
}

/** What a webhook of a type carries. */
export type WebhookData<T extends WebhookType> = z.output<(typeof WEBHOOKS)[T]['data']>;

/** Webhooks of one type, or of one of several types. */
export type WebhookOf<T extends WebhookType> = {
  readonly [Name in T]: {
    readonly type: Name;
    /** When it happened, ISO 8601. Every attempt has the same value. */
    readonly timestamp: string;
    readonly data: WebhookData<Name>;
  };
}[T];

/** A webhook that Tallyhook sends. Its `type` decides what `data` has; later versions may add types and fields. */
export type TallyhookWebhook = WebhookOf<WebhookType>;

/** A webhook about an order. */
export type OrderWebhook = WebhookOf<Extract<WebhookType, `order.${string}`>>;
