/** Alerts about the channels themselves. Numbers are the rules of src/notify/domain/channel.ts. */
import { expect, test } from 'vitest';
import {
  channelAlerts,
  channelDown,
  channelSetting,
  channelTitle,
  orderWebhookFailed,
} from '../../../src/notify/domain/channel.ts';
import { CHANNELS } from '../../../src/notify/domain/message.ts';

const HEALTH = {
  failingSinceMs: Date.UTC(2026, 10, 21, 17, 5),
  lastError: 'HTTP 503',
  outage: undefined,
};

test('each channel has a name, and the setting that holds its address', () => {
  expect(CHANNELS.map((channel) => [channelTitle(channel), channelSetting(channel)])).toEqual([
    ['log', 'LOG_LEVEL'],
    ['alert webhook', 'ALERT_WEBHOOK_URL'],
    ['Slack channel', 'ALERT_SLACK_URL'],
    ['mail channel', 'SMTP_URL'],
    ["shop's order webhook", 'ORDER_WEBHOOK_URL'],
  ]);
});

test('a channel that is down has a critical alert with its test and its setting (rule 1)', () => {
  expect(channelDown('mail', HEALTH)).toMatchObject({
    rule: 'channel_down',
    subject: 'channel:mail',
    variant: '',
    severity: 'critical',
    sentence: expect.stringMatching(
      /^The mail channel has accepted no message since 2026-11-21 17:05 UTC: HTTP 503\./,
    ),
    nextStep: 'Run npx tallyhook alerts test --channel mail, then check SMTP_URL.',
    detail: {
      channel: 'mail',
      failingSince: '2026-11-21T17:05:00.000Z',
      lastError: 'HTTP 503',
    },
  });
});

test('a channel that is not down resolves its alert (rule 1)', () => {
  const evaluated = { subject: 'channel:slack', rules: ['channel_down'] };
  expect(channelAlerts('slack', undefined)).toEqual({ ...evaluated, active: [] });
  expect(channelAlerts('slack', HEALTH)).toEqual({
    ...evaluated,
    active: [channelDown('slack', HEALTH)],
  });
});

test('an order webhook that failed for good names the order that the shop has to fetch (rule 2)', () => {
  const failed = {
    messageId: 'msg_1',
    content: {
      kind: 'order',
      type: 'order.paid',
      orderId: '10/01',
      at: '2026-11-20T10:00:00.000Z',
      data: {},
    },
    attempts: 9,
    response: 'HTTP 400',
  } as const;
  expect(orderWebhookFailed(failed)).toEqual({
    rule: 'order_webhook_failed',
    subject: 'message:msg_1',
    variant: '',
    severity: 'warning',
    sentence:
      'The shop did not accept the webhook order.paid of order 10/01 in 9 attempts; the last response was HTTP 400. Tallyhook does not retry it.',
    nextStep: 'Have the shop fetch the order now: GET /api/v1/orders/10%2F01',
    detail: { messageId: 'msg_1', type: 'order.paid', attempts: 9, response: 'HTTP 400' },
    orderId: '10/01',
  });
});
