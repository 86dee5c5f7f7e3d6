import { expect, test } from 'vitest';
import { channelDown } from '../../../src/notify/domain/channel.ts';
import {
  type Content,
  composeMessages,
  SINGLES_PER_RULE,
  SINGLES_PER_WINDOW,
  type WaitingNotification,
} from '../../../src/notify/domain/message.ts';
import { payloadOf } from '../../../src/notify/domain/payload.ts';
import { slackBody } from '../../../src/notify/domain/slack.ts';
import { subjectLine, type Text, textOf } from '../../../src/notify/domain/text.ts';
import { subjectHref } from '../../../src/pages/links.ts';

let serial = 0;

function notification(fields: Partial<WaitingNotification> = {}): WaitingNotification {
  serial += 1;
  return {
    alertId: serial,
    rule: 'dispute_opened',
    subject: `dispute:dp_${serial}`,
    severity: 'warning',
    type: 'opened',
    sentence: 'A dispute was opened.',
    nextStep: 'npx tallyhook orders explain ord_1',
    orderId: 'ord_1',
    paymentId: null,
    deadlineAt: null,
    openedAt: '2026-11-20T10:00:00.000Z',
    resolvedAt: null,
    money: null,
    writtenAt: `transaction ${serial}`,
    ...fields,
  };
}

const HERE = { name: 'Shop EU', consoleUrl: 'https://tallyhook.shop.example' };

const times = (count: number, fields: Partial<WaitingNotification> = {}) =>
  Array.from({ length: count }, () => notification(fields));

const SLACK = { channel: 'slack', severity: 'info', recentSingles: 0 } as const;

const kinds = (contents: readonly Content[]) => contents.map(({ kind }) => kind);

test('rule 1: a channel gets its minimum severity and above, and nothing about its own outage', () => {
  const down = channelDown('slack', {
    failingSinceMs: 0,
    lastError: 'HTTP 503',
    outage: undefined,
  });
  const batch = [
    notification({ severity: 'info' }),
    notification({ severity: 'warning' }),
    notification({ rule: down.rule, subject: down.subject, severity: down.severity }),
  ];
  const count = (severity: WaitingNotification['severity'], channel: 'slack' | 'mail') =>
    composeMessages({ channel, severity, recentSingles: 0 }, batch).length;
  expect([count('info', 'slack'), count('warning', 'slack'), count('critical', 'slack')]).toEqual([
    2, 1, 0,
  ]);
  expect(count('critical', 'mail')).toBe(1);
});

test('the alert about a channel names what becomes of its messages', () => {
  const { sentence } = channelDown('slack', {
    failingSinceMs: 0,
    lastError: 'HTTP 503',
    outage: undefined,
  });
  expect(sentence).toBe(
    'The Slack channel has accepted no message since 1970-01-01 00:00 UTC: HTTP 503. Its messages are retried for 72 hours. After that they have failed: npx tallyhook messages list --state failed lists them, and npx tallyhook messages resend sends one again.',
  );
});

test.each([
  [['opened'], 'opened'],
  [['reminder'], 'reminder'],
  [['resolved'], 'resolved'],
  [['opened', 'reminder'], 'opened'],
  [['reminder', 'reminder'], 'reminder'],
  [['reminder', 'resolved'], 'resolved'],
  [['opened', 'resolved'], 'opened_and_resolved'],
  [['opened', 'reminder', 'resolved'], 'opened_and_resolved'],
] as const)('rule 2: %j are sent as one: %s', (types, expected) => {
  const batch = types.map((type) => notification({ alertId: 7, type }));
  expect(composeMessages(SLACK, batch)).toMatchObject([
    { kind: 'alert', alert: { type: expected } },
  ]);
});

const RESOLVED = { resolvedAt: '2026-11-20T10:00:05.000Z' } as const;
const ONE_TIME = { resolvedAt: '2026-11-20T10:00:00.000Z' } as const;

test.each([
  [['opened'], RESOLVED, []],
  [['reminder'], RESOLVED, []],
  [['opened', 'reminder'], RESOLVED, []],
  [['opened', 'resolved'], RESOLVED, ['opened_and_resolved']],
  [['resolved'], RESOLVED, ['resolved']],
  [['opened'], ONE_TIME, ['opened']],
] as const)(
  'rule 3: a resolved alert is not reported as new: %j with %j are sent as %j',
  (types, fields, expected) => {
    const batch = types.map((type) => notification({ alertId: 7, type, ...fields }));
    const contents = composeMessages(SLACK, batch);
    expect(contents.map((one) => one.kind === 'alert' && one.alert.type)).toEqual(expected);
  },
);

test('rule 3: a less severe alert reports what it replaces, to the channels that get both', () => {
  const subject = 'dispute:dp_won';
  const open = notification({ subject, severity: 'critical', type: 'resolved', ...RESOLVED });
  const at = RESOLVED.resolvedAt;
  const { writtenAt } = open;
  const won = notification({ subject, severity: 'info', openedAt: at, resolvedAt: at, writtenAt });
  const get = (severity: 'info' | 'critical', batch: readonly WaitingNotification[]) =>
    composeMessages({ ...SLACK, severity }, batch).map(
      (one) => one.kind === 'alert' && [one.alert.alertId, one.alert.type],
    );
  expect(get('critical', [open, won])).toEqual([[open.alertId, 'resolved']]);
  expect(get('info', [open, won])).toEqual([[won.alertId, 'opened']]);
  const unseen = [{ ...open, type: 'opened' } as const, open, won];
  expect(get('critical', unseen)).toEqual([[open.alertId, 'opened_and_resolved']]);
  expect(get('info', unseen)).toEqual([[won.alertId, 'opened']]);
  // What another transaction opened, before or after it, and what is about another dispute, replace nothing.
  expect(get('info', [open, { ...won, writtenAt: 'another' }])).toHaveLength(2);
  expect(get('info', [open, { ...won, subject: 'dispute:dp_2' }])).toHaveLength(2);
});

test('rule 4: more than five of a rule become a digest, others are single messages', () => {
  const few = times(SINGLES_PER_RULE);
  expect(kinds(composeMessages(SLACK, few))).toEqual(few.map(() => 'alert'));
  const many = [...times(SINGLES_PER_RULE + 1), notification({ rule: 'payout_failed' })];
  expect(kinds(composeMessages(SLACK, many))).toEqual(['alert', 'digest']);
});

test('rule 4: a channel with ten recent single messages gets a digest', () => {
  const batch = times(2);
  const after = (recentSingles: number) =>
    kinds(composeMessages({ ...SLACK, recentSingles }, batch));
  expect(after(SINGLES_PER_WINDOW - 2)).toEqual(['alert', 'alert']);
  expect(after(SINGLES_PER_WINDOW - 1)).toEqual(['digest']);
});

test('a digest has counts, sums by currency, and the most urgent alerts', () => {
  const [message] = composeMessages(SLACK, [
    ...times(3, { money: { currency: 'EUR', amountMinor: 100 } }),
    ...times(2, { money: { currency: 'JPY', amountMinor: 7 } }),
    notification({ severity: 'critical', subject: 'dispute:dp_worst' }),
    notification({ deadlineAt: '2026-11-21T00:00:00.000Z', subject: 'dispute:dp_next' }),
    notification({ type: 'resolved', money: { currency: 'EUR', amountMinor: 5 } }),
  ]);
  expect(message).toMatchObject({
    kind: 'digest',
    severity: 'critical',
    count: 8,
    groups: [
      {
        type: 'opened',
        count: 7,
        sums: [
          { currency: 'EUR', amountMinor: 300 },
          { currency: 'JPY', amountMinor: 14 },
        ],
      },
      { type: 'resolved', count: 1, sums: [{ currency: 'EUR', amountMinor: 5 }] },
    ],
  });
  const urgent = message?.kind === 'digest' ? message.urgent.map(({ subject }) => subject) : [];
  expect(urgent.slice(0, 2)).toEqual(['dispute:dp_worst', 'dispute:dp_next']);
  const { title, lines } = textOf(message as Content, HERE);
  expect(title).toBe('8 alerts, critical');
  expect(lines[0]).toBe('7 x dispute_opened new (critical), 3.00 EUR and 14 JPY');
  expect(lines.at(-1)).toBe('All alerts: npx tallyhook alerts list');
});

test('a sum that is not exact does not prevent the message', () => {
  const money = { currency: 'EUR', amountMinor: Number.MAX_SAFE_INTEGER };
  const [message] = composeMessages(SLACK, times(6, { money }));
  expect(message).toMatchObject({ groups: [{ sums: [{ currency: 'EUR', amountMinor: null }] }] });
  expect(textOf(message as Content, HERE).lines[0]).toContain('EUR (the sum is too large)');
});

test('an alert has its severity, next step, ids and times', () => {
  const alert = notification({
    alertId: 12,
    severity: 'critical',
    subject: 'dispute:dp_1',
    deadlineAt: '2026-11-27T10:30:00.000Z',
    paymentId: 'pay_1',
  });
  expect(textOf({ kind: 'alert', alert }, HERE)).toEqual({
    installation: 'Shop EU',
    title: 'Dispute opened: order ord_1, evidence due Fri 27 Nov 10:30 UTC',
    lines: [
      'A dispute was opened.',
      'Next step: npx tallyhook orders explain ord_1',
      'critical, order ord_1, payment pay_1, due 2026-11-27 10:30 UTC, opened 2026-11-20 10:00 UTC, alert 12',
    ],
    links: [
      { label: 'Open the dispute', url: `${HERE.consoleUrl}/disputes/dp_1` },
      { label: 'Open the order', url: `${HERE.consoleUrl}/orders/ord_1` },
      { label: 'Open the alert', url: `${HERE.consoleUrl}/alerts/12` },
    ],
  });
  const resolved = {
    ...alert,
    type: 'resolved',
    resolvedAt: '2026-11-21T09:00:07.000Z',
  } as const;
  expect(textOf({ kind: 'alert', alert: resolved }, HERE)).toMatchObject({
    title: 'Resolved: Dispute opened: order ord_1',
    lines: [
      'Resolved: A dispute was opened.',
      expect.stringContaining('resolved 2026-11-21 09:00 UTC'),
    ],
  });
});

const NASTY =
  'ord_1\r\nBcc: all@shop.example\r\n\r\n<!channel> <https://evil.example|pay> & \u202e@channel @Here\u2028Cc: all\u2029x';

test.each<[Partial<WaitingNotification>, string]>([
  [
    {
      orderId: '1001',
      money: { currency: 'EUR', amountMinor: 5_400 },
      deadlineAt: '2026-11-24T10:30:00.000Z',
    },
    'Dispute opened: 54.00 EUR on order 1001, evidence due Tue 24 Nov 10:30 UTC',
  ],
  [
    { subject: 'dispute:dp_1', orderId: null, money: { currency: 'JPY', amountMinor: 54 } },
    'Dispute opened: 54 JPY, dispute dp_1',
  ],
  [
    { rule: 'authorization_expiring', deadlineAt: '2026-12-05T23:59:00.000Z', type: 'reminder' },
    'Still open: Authorization expires soon: order ord_1, capture by Sat 5 Dec 23:59 UTC',
  ],
  [{ rule: 'webhooks_stopped', subject: 'system:webhooks', orderId: null }, 'Webhooks stopped'],
  [
    { rule: 'rule_of_tomorrow', subject: 'event:12', orderId: null, type: 'opened_and_resolved' },
    'Opened and resolved: rule of tomorrow: event 12',
  ],
])('the title of %o is one that a person reads', (fields, title) => {
  const text = textOf({ kind: 'alert', alert: notification(fields) }, HERE);
  expect(text.title).toBe(title);
  expect(subjectLine(text)).toBe(`[Shop EU] ${title}`);
});

test.each([
  ['order:order:1001', '/orders/1001'],
  ['order:payment:pay_1', '/orders/pay_1?by=payment'],
  ['payout:po/../1', '/payouts/po%2F..%2F1'],
  ['event:12', '/inbox/12'],
  ['system:webhooks', '/inbox'],
  ['channel:mail', '/alerts/channels'],
  ['profile:pro_1', '/alerts/7'],
])('an alert about %s opens %s first', (subject, path) => {
  const alert = notification({ alertId: 7, subject, orderId: null });
  const url = `${HERE.consoleUrl}${path}`;
  const content = { kind: 'alert', alert } as const;
  expect(textOf(content, HERE).links[0]?.url).toBe(url);
  expect(payloadOf(content, '2026-11-21T06:00:00.000Z', HERE).data).toMatchObject({
    installation: 'Shop EU',
    url,
  });
});

test('without an address of the console nothing has a link', () => {
  const content = { kind: 'alert', alert: notification() } as const;
  const here = { name: 'Tallyhook', consoleUrl: undefined };
  expect(textOf(content, here).links).toEqual([]);
  expect(payloadOf(content, '2026-11-21T06:00:00.000Z', here).data).toHaveProperty('url', null);
});

test('Slack gets a button for each link, and no text that it would refuse', () => {
  const alert = notification({ alertId: 7, subject: 'dispute:dp_1', sentence: '&'.repeat(1_000) });
  const { blocks } = slackBody(textOf({ kind: 'alert', alert }, HERE));
  expect(blocks.find(({ type }) => type === 'actions')).toMatchObject({
    elements: [
      { type: 'button', url: `${HERE.consoleUrl}/disputes/dp_1` },
      { type: 'button', url: `${HERE.consoleUrl}/orders/ord_1` },
      { type: 'button', url: `${HERE.consoleUrl}/alerts/7` },
    ],
  });
  const lengths = blocks.map((block) => ('text' in block ? block.text.text.length : 1));
  expect(Math.max(...lengths)).toBeLessThanOrEqual(3_000);
  expect(Math.min(...lengths)).toBeGreaterThan(0);
});

test('ids from outside cannot begin a line or a header', () => {
  const alert = notification({
    subject: `order:${NASTY}`,
    orderId: NASTY,
    sentence: `About ${NASTY}.`,
  });
  const { title, lines } = textOf({ kind: 'alert', alert }, HERE);
  for (const text of [title, ...lines]) expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
});

test('a long text is cut between characters, also of two code units', () => {
  for (const shift of ['', '.']) {
    const alert = notification({ sentence: shift + '😀'.repeat(600) });
    const { lines } = textOf({ kind: 'alert', alert }, HERE);
    const longest = lines.toSorted((a, b) => b.length - a.length)[0] ?? '';
    expect(longest.isWellFormed()).toBe(true);
    expect(longest).toMatch(/😀…$/u);
    expect(longest.length).toBeGreaterThan(990);
    expect(longest.length).toBeLessThanOrEqual(1_000);
  }
});

test('ids from outside cannot become a link or a mention in a chat', () => {
  const alert = notification({ subject: `order:${NASTY}`, sentence: `About ${NASTY}.` });
  const { text, blocks } = slackBody(textOf({ kind: 'alert', alert }, HERE));
  expect(text).toContain('&lt;!channel&gt; &lt;https: //evil.example|pay&gt; &amp;');
  for (const shown of [text, JSON.stringify(blocks)]) {
    expect(shown).not.toMatch(/[<>]|@(channel|here)/i);
  }
});

const plain = (title: string, lines: readonly string[]): Text => ({
  installation: 'Shop EU',
  title,
  lines,
  links: [],
});

test('text from outside is neither emphasis nor a link in a chat, also where it reads Markdown', () => {
  const body = slackBody(plain('*urgent*', ['[pay](https://evil.example)']));
  expect(body).toEqual({
    text: '[Shop EU] *urgent*\n[pay] (https: //evil.example)',
    mrkdwn: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: '*urgent*' } },
      { type: 'section', text: { type: 'plain_text', text: '[pay] (https: //evil.example)' } },
      { type: 'context', elements: [{ type: 'plain_text', text: 'Shop EU' }] },
    ],
  });
});

test('names that notify everyone in a chat lose their @ in every spelling', () => {
  const textWith = (name: string) =>
    JSON.stringify(slackBody(plain(name, [`about ${name}, please`])));
  for (const name of ['all', 'channel', 'everyone', 'here']) {
    for (const call of [`@${name}`, `@${name.toUpperCase()}`, `@@${name}`, `@@@${name}`]) {
      expect(textWith(call), call).not.toContain('@');
    }
  }
  expect(textWith('ada@shop.example')).toContain('ada@shop.example');
  expect(textWith('@hereafter')).toContain('@hereafter');
});

test('the daily summary has each currency and what is open', () => {
  const content: Content = {
    kind: 'summary',
    summary: {
      day: '2026-11-20',
      currencies: [
        {
          currency: 'USD',
          capturedMinor: 654_000,
          refundedMinor: 1_000,
          disputedMinor: 0,
          paidOutMinor: 50,
        },
      ],
      openFindings: 2,
      openAlerts: { info: 0, warning: 3, critical: 1 },
      chainHead: '12:ab34',
    },
  };
  expect(textOf(content, HERE)).toEqual({
    installation: 'Shop EU',
    title: 'Daily summary of 2026-11-20',
    lines: [
      'USD: captured 6540.00 USD, refunded 10.00 USD, disputed 0.00 USD, paid out 0.50 USD',
      'Open now: 2 findings; alerts: 1 critical, 3 warning, 0 info.',
      'Keep this: head of the chain of the journal 12:ab34',
      'Details: npx tallyhook alerts list, npx tallyhook findings list',
    ],
    links: [{ label: 'Open the console', url: `${HERE.consoleUrl}/` }],
  });
  expect(payloadOf(content, '2026-11-21T06:00:00.000Z', HERE)).toMatchObject({
    type: 'summary.daily',
    data: { day: '2026-11-20', currencies: [{ currency: 'USD', amount_captured: 654_000 }] },
  });
});

test('the daily summary of a day without transfers states that none was recorded, not that no money moved', () => {
  const summary = {
    day: '2026-11-20',
    currencies: [],
    openFindings: 0,
    openAlerts: { info: 0, warning: 1, critical: 0 },
    chainHead: null,
  };
  expect(textOf({ kind: 'summary', summary }, HERE).lines[0]).toBe(
    'No money was recorded on this day (UTC).',
  );
});

test.each([
  ['payment:pay_1', 'Open the payment'],
  ['event:12', 'Open the event'],
  ['order:order:ord_1', 'Open the order'],
  ['order:payment:pay_1', 'Open the order'],
  ['system:webhooks', 'Open the page of the system'],
  ['list:refunds', 'Open the reconciliation'],
  ['currency:EUR', 'Open the journal'],
  ['channel:slack', 'Open the channels'],
])('a message about %s links to the page that the console links to', (subject, label) => {
  const alert = notification({ subject, orderId: null });
  const { links } = textOf({ kind: 'alert', alert }, HERE);
  expect(links[0]).toEqual({ label, url: `${HERE.consoleUrl}${subjectHref(subject)}` });
  expect(links.at(-1)?.label).toBe('Open the alert');
});
