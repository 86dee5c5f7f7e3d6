/** The migration that renames rules and message fields, applied to rows of the previous version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestNotifier } from '../support/notifier.ts';
import { type HttpReceiver, SIGNING_SECRET, startHttpReceiver } from '../support/receivers.ts';

let db: TestDatabase;
let receiver: HttpReceiver;
beforeEach(async () => {
  db = await createTestDatabase();
  receiver = await startHttpReceiver(SIGNING_SECRET);
});
afterEach(async () => {
  await receiver.close();
  await db.drop();
});

/** Restores the names of the previous version. */
const BEFORE = `
  alter table order_webhook_totals rename column totals to money;
  alter table order_webhook_totals rename to order_notices;
  alter table order_webhook_position rename to order_notice_position;
  alter table dispatch_state rename column next_dispatch_at to next_take_at;
  alter table dispatch_state rename to alert_pace;
  alter table alert_outbox rename column type to occasion;
  alter table alert_outbox rename column created_at to said_at;
  alter table messages drop constraint messages_kind_check;
  alter table watch_counts drop constraint watch_counts_name_check;
  alter table messages add constraint messages_kind_check
    check (kind in ('alert', 'alerts', 'summary', 'order'));
  alter table watch_counts add constraint watch_counts_name_check
    check (name in ('signature_mismatched', 'signature_unsigned', 'rate_exhausted'));`;

const part = (alertId: number, rule: string, occasion: string) => ({
  alertId,
  rule,
  subject: `system:${alertId}`,
  severity: 'critical',
  occasion,
  sentence: 'It happened.',
  nextStep: 'npx tallyhook doctor',
  orderId: null,
  paymentId: null,
  deadlineAt: null,
  openedAt: '2026-11-20T10:00:00.000Z',
  resolvedAt: null,
  money: null,
});

test('stored alerts get the new rule names, and waiting messages are delivered in the new format', async () => {
  await db.query(BEFORE);
  await db.query(
    `insert into alerts (rule, subject, severity, sentence, next_step, detail)
     select rule, 'system:' || rule, 'critical', 's', 'n', '{}'
       from unnest($1::text[]) as rule`,
    [
      [
        'silence',
        'watermark',
        'rate_exhausted',
        'channel_dead',
        'order_notice_given_up',
        'backlog',
      ],
    ],
  );
  await db.query(
    `insert into watch_counts (minute, name, count) values (now(), 'rate_exhausted', 2)`,
  );
  const groups = [
    { rule: 'silence', occasion: 'opened', severity: 'critical', count: 6, sums: [] },
  ];
  const digest = { severity: 'critical', count: 6, groups, urgent: [part(1, 'silence', 'opened')] };
  await db.query(
    `insert into messages (id, channel, kind, content, next_attempt_at, created_at)
     values ('msg_1', 'webhook', 'alert', $1, now(), now()),
            ('msg_2', 'webhook', 'alerts', $2, now(), now())`,
    [
      { kind: 'alert', alert: part(2, 'channel_dead', 'passed') },
      { kind: 'alerts', ...digest },
    ],
  );

  await db.transaction((tx) =>
    tx.query(readFileSync(join(packageRoot(), 'migrations/00027_alert-names.sql'), 'utf8')),
  );

  const rules = await db.query<{ rule: string }>('select rule from alerts order by id');
  expect(rules.map(({ rule }) => rule).toSorted()).toEqual([
    'backlog',
    'channel_down',
    'order_webhook_failed',
    'rate_limit_exhausted',
    'reconciliation_lag',
    'webhooks_stopped',
  ]);
  expect(await db.query('select name, count from watch_counts')).toEqual([
    { name: 'rate_limit_exhausted', count: 2 },
  ]);
  const { deliver } = createTestNotifier({
    db,
    env: { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: SIGNING_SECRET },
  });
  await deliver();
  const sent = receiver
    .accepted()
    .map(({ body }) => JSON.parse(body) as { readonly type: string })
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
  expect(sent).toMatchObject([
    {
      type: 'alert.digest',
      data: {
        groups: [{ rule: 'webhooks_stopped', type: 'opened', count: 6 }],
        urgent: [{ rule: 'webhooks_stopped', type: 'opened', sentence: 'It happened.' }],
      },
    },
    {
      type: 'alert.opened_and_resolved',
      data: { rule: 'channel_down', type: 'opened_and_resolved' },
    },
  ]);
});
