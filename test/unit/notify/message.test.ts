import { expect, test } from 'vitest';
import { channelDead } from '../../../src/notify/domain/channel.ts';
import {
  type Content,
  composeFor,
  type Saying,
  SINGLES_PER_RULE,
  SINGLES_PER_WINDOW,
} from '../../../src/notify/domain/message.ts';
import { payloadOf } from '../../../src/notify/domain/payload.ts';
import { slackBody } from '../../../src/notify/domain/slack.ts';
import { textOf } from '../../../src/notify/domain/text.ts';

let serial = 0;

function saying(fields: Partial<Saying> = {}): Saying {
  serial += 1;
  return {
    alertId: serial,
    rule: 'dispute_opened',
    subject: `dispute:dp_${serial}`,
    severity: 'warning',
    occasion: 'opened',
    sentence: 'A dispute was opened.',
    nextStep: 'npx tallyhook orders explain ord_1',
    orderId: 'ord_1',
    paymentId: null,
    deadlineAt: null,
    openedAt: '2026-11-20T10:00:00.000Z',
    resolvedAt: null,
    money: null,
    ...fields,
  };
}

const times = (count: number, fields: Partial<Saying> = {}) =>
  Array.from({ length: count }, () => saying(fields));

const SLACK = { channel: 'slack', severity: 'info', recentSingles: 0 } as const;

const kinds = (contents: readonly Content[]) => contents.map(({ kind }) => kind);

test('rule 1: a channel hears what is as severe as it wants, and nothing of its own death', () => {
  const dead = channelDead('slack', {
    failingSinceMs: 0,
    lastError: 'HTTP 503',
    away: undefined,
  });
  const take = [
    saying({ severity: 'info' }),
    saying({ severity: 'warning' }),
    saying({ rule: dead.rule, subject: dead.subject, severity: dead.severity }),
  ];
  const heard = (severity: Saying['severity'], channel: 'slack' | 'mail') =>
    composeFor({ channel, severity, recentSingles: 0 }, take).length;
  expect([heard('info', 'slack'), heard('warning', 'slack'), heard('critical', 'slack')]).toEqual([
    2, 1, 0,
  ]);
  expect(heard('critical', 'mail')).toBe(1);
});

test.each([
  [['opened'], 'opened'],
  [['reminder'], 'reminder'],
  [['resolved'], 'resolved'],
  [['opened', 'reminder'], 'opened'],
  [['reminder', 'reminder'], 'reminder'],
  [['reminder', 'resolved'], 'resolved'],
  [['opened', 'resolved'], 'passed'],
  [['opened', 'reminder', 'resolved'], 'passed'],
] as const)('rule 2: of %j one thing is said: %s', (occasions, said) => {
  const take = occasions.map((occasion) => saying({ alertId: 7, occasion }));
  expect(composeFor(SLACK, take)).toMatchObject([{ kind: 'alert', alert: { occasion: said } }]);
});

const OVER = { resolvedAt: '2026-11-20T10:00:05.000Z' } as const;
const NEWS = { resolvedAt: '2026-11-20T10:00:00.000Z' } as const;

test.each([
  [['opened'], OVER, []],
  [['reminder'], OVER, []],
  [['opened', 'reminder'], OVER, []],
  [['opened', 'resolved'], OVER, ['passed']],
  [['resolved'], OVER, ['resolved']],
  [['opened'], NEWS, ['opened']],
] as const)(
  'rule 3: what is over is not said as new: of %j with %j is said %j',
  (occasions, fields, said) => {
    const take = occasions.map((occasion) => saying({ alertId: 7, occasion, ...fields }));
    const contents = composeFor(SLACK, take);
    expect(contents.map((one) => one.kind === 'alert' && one.alert.occasion)).toEqual(said);
  },
);

test('rule 4: more than five of a rule are one message, others go by themselves', () => {
  const few = times(SINGLES_PER_RULE);
  expect(kinds(composeFor(SLACK, few))).toEqual(few.map(() => 'alert'));
  const many = [...times(SINGLES_PER_RULE + 1), saying({ rule: 'payout_failed' })];
  expect(kinds(composeFor(SLACK, many))).toEqual(['alert', 'alerts']);
});

test('rule 4: a channel that was given its share of single messages gets one for all', () => {
  const take = times(2);
  const after = (recentSingles: number) => kinds(composeFor({ ...SLACK, recentSingles }, take));
  expect(after(SINGLES_PER_WINDOW - 2)).toEqual(['alert', 'alert']);
  expect(after(SINGLES_PER_WINDOW - 1)).toEqual(['alerts']);
});

test('a gathered message counts, adds up by currency, and names what is most urgent', () => {
  const [message] = composeFor(SLACK, [
    ...times(3, { money: { currency: 'EUR', amountMinor: 100 } }),
    ...times(2, { money: { currency: 'JPY', amountMinor: 7 } }),
    saying({ severity: 'critical', subject: 'dispute:dp_worst' }),
    saying({ deadlineAt: '2026-11-21T00:00:00.000Z', subject: 'dispute:dp_next' }),
    saying({ occasion: 'resolved', money: { currency: 'EUR', amountMinor: 5 } }),
  ]);
  expect(message).toMatchObject({
    kind: 'alerts',
    severity: 'critical',
    count: 8,
    groups: [
      {
        occasion: 'opened',
        count: 7,
        sums: [
          { currency: 'EUR', amountMinor: 300 },
          { currency: 'JPY', amountMinor: 14 },
        ],
      },
      { occasion: 'resolved', count: 1, sums: [{ currency: 'EUR', amountMinor: 5 }] },
    ],
  });
  const urgent = message?.kind === 'alerts' ? message.urgent.map(({ subject }) => subject) : [];
  expect(urgent.slice(0, 2)).toEqual(['dispute:dp_worst', 'dispute:dp_next']);
  const { title, lines } = textOf(message as Content);
  expect(title).toBe('critical: 8 alerts');
  expect(lines[0]).toBe('7 x dispute_opened new (critical), about 3.00 EUR and 14 JPY');
  expect(lines.at(-1)).toBe('All of them: npx tallyhook alerts list');
});

test('a sum that cannot be told exactly does not keep the message back', () => {
  const money = { currency: 'EUR', amountMinor: Number.MAX_SAFE_INTEGER };
  const [message] = composeFor(SLACK, times(6, { money }));
  expect(message).toMatchObject({ groups: [{ sums: [{ currency: 'EUR', amountMinor: null }] }] });
  expect(textOf(message as Content).lines[0]).toContain('more EUR than can be added');
});

test('an alert is told with its severity, what to do, its ids and its times', () => {
  const alert = saying({
    alertId: 12,
    severity: 'critical',
    subject: 'dispute:dp_1',
    deadlineAt: '2026-11-27T10:30:00.000Z',
    paymentId: 'pay_1',
  });
  expect(textOf({ kind: 'alert', alert })).toEqual({
    title: 'critical: dispute_opened, dispute:dp_1',
    lines: [
      'A dispute was opened.',
      'Next: npx tallyhook orders explain ord_1',
      'order ord_1, payment pay_1, due 2026-11-27 10:30 UTC, open since 2026-11-20 10:00 UTC, alert 12',
    ],
  });
  const over = { ...alert, occasion: 'resolved', resolvedAt: '2026-11-21T09:00:07.000Z' } as const;
  expect(textOf({ kind: 'alert', alert: over })).toMatchObject({
    title: 'resolved: dispute_opened, dispute:dp_1',
    lines: [
      'Resolved: A dispute was opened.',
      expect.stringContaining('resolved 2026-11-21 09:00 UTC'),
    ],
  });
});

const NASTY =
  'ord_1\r\nBcc: all@shop.example\r\n\r\n<!channel> <https://evil.example|pay> & \u202e@channel @Here\u2028Cc: all\u2029x';

test('ids from outside begin no line of their own and no header', () => {
  const alert = saying({ subject: `order:${NASTY}`, orderId: NASTY, sentence: `About ${NASTY}.` });
  const { title, lines } = textOf({ kind: 'alert', alert });
  for (const text of [title, ...lines]) expect(text).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
});

test('ids from outside are no link and no mention in a chat', () => {
  const alert = saying({ subject: `order:${NASTY}`, sentence: `About ${NASTY}.` });
  const { text } = slackBody(textOf({ kind: 'alert', alert }));
  expect(text).toContain('&lt;!channel&gt; &lt;https://evil.example|pay&gt; &amp;');
  expect(text).not.toMatch(/[<>]|@(channel|here)/i);
});

test('no name that calls everybody in a chat keeps its @, however it is written', () => {
  const textWith = (name: string) =>
    slackBody({ title: name, lines: [`about ${name}, please`] }).text;
  for (const name of ['all', 'channel', 'everyone', 'here']) {
    for (const call of [`@${name}`, `@${name.toUpperCase()}`, `@@${name}`, `@@@${name}`]) {
      expect(textWith(call), call).not.toContain('@');
    }
  }
  expect(textWith('ada@shop.example')).toContain('ada@shop.example');
  expect(textWith('@hereafter')).toContain('@hereafter');
});

test('the daily summary tells each currency, and what is open', () => {
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
    },
  };
  expect(textOf(content)).toEqual({
    title: 'Tallyhook: 2026-11-20',
    lines: [
      'USD: captured 6540.00 USD, refunded 10.00 USD, disputed 0.00 USD, paid out 0.50 USD',
      'Open now: 2 findings, alerts 1 critical, 3 warning, 0 info.',
      'Look: npx tallyhook alerts list, npx tallyhook findings list',
    ],
  });
  expect(payloadOf(content, '2026-11-21T06:00:00.000Z')).toMatchObject({
    type: 'summary.daily',
    data: { day: '2026-11-20', currencies: [{ currency: 'USD', amount_captured: 654_000 }] },
  });
});
