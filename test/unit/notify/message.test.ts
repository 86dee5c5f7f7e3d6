import { expect, test } from 'vitest';
import { channelDown } from '../../../src/notify/domain/channel.ts';
import {
  type Content,
  composeMessages,
  SINGLES_PER_RULE,
  SINGLES_PER_WINDOW,
  type WaitingNotification,
  WINDOW_MS,
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
  // Nor does what is as severe, what is resolved with it, or what opened with it.
  expect(get('info', [open, { ...won, severity: 'critical' }])).toHaveLength(2);
  expect(get('info', [open, { ...won, type: 'resolved' }])).toHaveLength(2);
  expect(get('info', [{ ...open, type: 'opened', resolvedAt: null }, won])).toHaveLength(2);
  const later = notification({ subject, severity: 'info', writtenAt: 'another' });
  expect(get('info', [open, won, later])).toHaveLength(2);
});

test('rule 4: more than five of a rule become a digest, others are single messages', () => {
  const few = times(SINGLES_PER_RULE);
  expect(kinds(composeMessages(SLACK, few))).toEqual(few.map(() => 'alert'));
  const many = [...times(SINGLES_PER_RULE + 1), notification({ rule: 'payout_failed' })];
  expect(kinds(composeMessages(SLACK, many))).toEqual(['alert', 'digest']);
});

test('rule 4: a channel with ten single messages in ten minutes gets a digest', () => {
  const batch = times(2);
  expect(WINDOW_MS).toBe(10 * 60_000);
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

/** A digest of what is in the batch, of which there is too much for single messages. */
function digestOf(batch: readonly WaitingNotification[]) {
  const [digest, ...others] = composeMessages({ ...SLACK, recentSingles: 10 }, batch);
  expect(others).toEqual([]);
  if (digest?.kind !== 'digest') throw new Error('This is no digest.');
  return digest;
}

test('single messages and the urgent ones of a digest are in the order in which to act', () => {
  const usd = (amountMinor: number) => ({ money: { currency: 'USD', amountMinor } });
  const deadlineAt = '2026-11-21T00:00:00.000Z';
  const inOrder = [
    notification({ alertId: 108, severity: 'critical' }),
    notification({ alertId: 107, deadlineAt }),
    notification({ alertId: 106, deadlineAt: '2026-11-22T00:00:00.000Z' }),
    notification({ alertId: 105, ...usd(900) }),
    notification({ alertId: 104, ...usd(800) }),
    notification({ alertId: 102 }),
    notification({ alertId: 103 }),
    notification({ alertId: 101, severity: 'info', deadlineAt }),
  ];
  const ids = inOrder.map(({ alertId }) => alertId);
  const shuffled = inOrder.toSorted((a, b) => a.alertId - b.alertId);
  for (const batch of [shuffled, inOrder]) {
    const singles = composeMessages(
      SLACK,
      batch.map((one) => ({ ...one, rule: `rule ${one.alertId}` })),
    );
    expect(singles.map((one) => one.kind === 'alert' && one.alert.alertId)).toEqual(ids);
  }
  const resolved = notification({ alertId: 109, severity: 'critical', type: 'resolved' });
  const reminder = notification({ alertId: 100, severity: 'critical', type: 'reminder' });
  const { urgent } = digestOf([...shuffled, resolved, reminder]);
  expect(urgent.map(({ alertId }) => alertId)).toEqual([100, ...ids.slice(0, 4)]);
});

test('the groups of a digest are in the order in which to act', () => {
  const { groups } = digestOf([
    notification({ rule: 'refund_failed', severity: 'info' }),
    notification({ rule: 'payout_failed', type: 'resolved' }),
    notification({ rule: 'payout_failed', type: 'reminder' }),
    notification({ rule: 'double_paid', type: 'resolved' }),
    ...times(2, { rule: 'payment_stuck' }),
    notification({ rule: 'webhooks_stopped', severity: 'critical' }),
  ]);
  expect(groups.map(({ rule, type, count }) => `${count} ${rule} ${type}`)).toEqual([
    '1 webhooks_stopped opened',
    '2 payment_stuck opened',
    '1 double_paid resolved',
    '1 payout_failed reminder',
    '1 payout_failed resolved',
    '1 refund_failed opened',
  ]);
});

test('the sums of a digest are in the order of their currencies', () => {
  const money = ['USD', 'EUR', 'JPY'].map((currency) => ({ currency, amountMinor: 100 }));
  const { groups } = digestOf(money.map((one) => notification({ money: one })));
  expect(groups[0]?.sums.map(({ currency }) => currency)).toEqual(['EUR', 'JPY', 'USD']);
});

test('a digest lists what to do about the most urgent, and where all are', () => {
  const texts = textOf(digestOf([notification({ severity: 'critical' })]), HERE);
  expect(texts).toMatchObject({
    title: '1 alert, critical',
    lines: [
      '1 x dispute_opened new (critical)',
      '',
      'Most urgent:',
      '- A dispute was opened.',
      '  npx tallyhook orders explain ord_1',
      '',
      'All alerts: npx tallyhook alerts list',
    ],
    links: [{ label: 'Open the alerts', url: `${HERE.consoleUrl}/alerts` }],
  });
  expect(textOf(digestOf([notification({ type: 'resolved' })]), HERE).lines).toEqual([
    '1 x dispute_opened resolved (warning)',
    '',
    'All alerts: npx tallyhook alerts list',
  ]);
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
    { rule: 'list_unstable', subject: 'list:refunds', orderId: null },
    'List changes while it is read: list refunds',
  ],
  [{ rule: 'channel_down', subject: 'channel:mail', orderId: null }, 'Channel down: channel mail'],
  [{ subject: 'dispute:dp:1', orderId: null }, 'Dispute opened: dispute dp:1'],
  [
    { type: 'opened_and_resolved', deadlineAt: '2026-11-24T10:30:00.000Z' },
    'Opened and resolved: Dispute opened: order ord_1',
  ],
  [
    { rule: 'rule_of_tomorrow', deadlineAt: '2026-11-24T10:30:00.000Z' },
    'rule of tomorrow: order ord_1, due Tue 24 Nov 10:30 UTC',
  ],
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
  const { blocks, text } = slackBody(textOf({ kind: 'alert', alert }, HERE));
  expect(text.split('\n').at(-1)).toBe(`Open the alert: ${HERE.consoleUrl}/alerts/7`);
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

test('Slack gets long texts in sections of 3,000 characters at most, and a title of 150', () => {
  const textsOf = (title: string, lines: readonly string[]) =>
    slackBody(plain(title, lines)).blocks.flatMap((block) =>
      block.type === 'header' || block.type === 'section' ? block.text.text : [],
    );
  const line = 'x'.repeat(1_499);
  expect(textsOf('t', [line, 'y', line])).toEqual(['t', `${line}\ny`, line]);
  expect(textsOf('t', [line, `${line}y`])).toEqual(['t', `${line}\n${line}y`]);
  expect(textsOf('t', [line, `${line}yy`])).toEqual(['t', line, `${line}yy`]);
  expect(textsOf('t', ['', ' a ', ''])).toEqual(['t', 'a']);
  expect(textsOf('t', [''])).toEqual(['t']);
  expect(textsOf('t'.repeat(150), [])).toEqual(['t'.repeat(150)]);
  expect(textsOf('t'.repeat(151), [])).toEqual([`${'t'.repeat(29)}…`]);
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

test('a test message states that the channel works, and that nothing is to be done', () => {
  expect(textOf({ kind: 'test', at: '2026-11-21T09:00:07.000Z' }, HERE)).toEqual({
    installation: 'Shop EU',
    title: 'Test message',
    lines: [
      'This is a test message, sent at 2026-11-21 09:00 UTC. Alerts arrive on this channel.',
      'No action is needed.',
    ],
    links: [{ label: 'Open the console', url: `${HERE.consoleUrl}/` }],
  });
});

test('an order webhook is shown as it is, without links: it is for a program', () => {
  const at = '2026-11-21T09:00:07.000Z';
  const content: Content = { kind: 'order', type: 'order.paid', orderId: 'a', at, data: { a: 1 } };
  expect(textOf(content, HERE)).toEqual({
    installation: 'Shop EU',
    title: 'order.paid',
    lines: ['{"a":1}'],
    links: [],
  });
});

test.each([
  ['reminder', 'Still open: A dispute was opened.', true],
  ['opened_and_resolved', 'Opened and resolved: A dispute was opened.', false],
] as const)('a message of type %s begins with it: %s', (type, sentence, hasNextStep) => {
  const { lines } = textOf({ kind: 'alert', alert: notification({ type }) }, HERE);
  expect(lines[0]).toBe(sentence);
  expect(lines.some((line) => line.startsWith('Next step: '))).toBe(hasNextStep);
});

test('an alert without an order or a payment, which happened once, has its severity and its time', () => {
  const none = { orderId: null, paymentId: null };
  const alert = notification({ alertId: 7, sentence: 'A clock differs.\n', ...none, ...ONE_TIME });
  expect(textOf({ kind: 'alert', alert }, HERE).lines).toEqual([
    'A clock differs.',
    'Next step: npx tallyhook orders explain ord_1',
    'warning, opened 2026-11-20 10:00 UTC, alert 7',
  ]);
});

test('the daily summary of a day without transfers states that none was recorded, not that no money moved', () => {
  const summary = {
    day: '2026-11-20',
    currencies: [],
    openFindings: 0,
    openAlerts: { info: 0, warning: 1, critical: 0 },
    chainHead: null,
  };
  expect(textOf({ kind: 'summary', summary }, HERE).lines).toEqual([
    'No money was recorded on this day (UTC).',
    'Open now: 0 findings; alerts: 0 critical, 1 warning, 0 info.',
    'Details: npx tallyhook alerts list, npx tallyhook findings list',
  ]);
});

test.each([
  ['payment:pay_1', 'Open the payment'],
  ['event:12', 'Open the event'],
  ['order:order:ord_1', 'Open the order'],
  ['order:payment:pay_1', 'Open the order'],
  ['system:webhooks', 'Open the page of the system'],
  ['list:refunds', 'Open the reconciliation'],
  ['totals:payments', 'Open the reconciliation'],
  ['currency:EUR', 'Open the journal'],
  ['channel:slack', 'Open the channels'],
])('a message about %s links to the page that the console links to', (subject, label) => {
  const alert = notification({ subject, orderId: null });
  const { links } = textOf({ kind: 'alert', alert }, HERE);
  expect(links[0]).toEqual({ label, url: `${HERE.consoleUrl}${subjectHref(subject)}` });
  expect(links.at(-1)?.label).toBe('Open the alert');
});

test('a message about an order links to it once', () => {
  const alert = notification({ subject: 'order:order:ord_1', orderId: 'ord_1' });
  const { links } = textOf({ kind: 'alert', alert }, HERE);
  expect(links.map(({ label }) => label)).toEqual(['Open the order', 'Open the alert']);
});
