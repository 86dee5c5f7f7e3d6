/** Commands in alerts are copied into a terminal: an id from outside must stay an id there. */
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/alerts/domain/alert.ts';
import { history } from '../../../src/alerts/domain/format.ts';
import { holdAlerts } from '../../../src/alerts/domain/rules/authorization.ts';
import { FINDING_CLASSES_JUDGED, findingAlert } from '../../../src/alerts/domain/rules/findings.ts';
import { overdueAlerts } from '../../../src/alerts/domain/rules/overdue.ts';
import { shellWord } from '../../../src/alerts/domain/shellWord.ts';
import { DAY_MS } from '../../../src/platform/time.ts';

test.each([
  ['pay_1', 'pay_1'],
  ['a:b/c+d@e.f', 'a:b/c+d@e.f'],
  ['run 7', "'run 7'"],
  ["it's $(rm)", `'it'\\''s $(rm)'`],
  ["x'; rm -rf /", "'x'\\''; rm -rf /'"],
  ['größe', "'größe'"],
  ['=ls', "'=ls'"],
  ['--help', '-- --help'],
  ['-x y', "-- '-x y'"],
])('%s is one word of a command line: %s', (id, word) => {
  expect(shellWord(id)).toBe(word);
});

const ID = '--pay';
const NOW_MS = Date.UTC(2030, 0, 1);

const payment = {
  kind: 'payment',
  id: ID,
  status: 'processing',
  stage: undefined,
  currency: 'USD',
  amountMinor: 1000,
  orderId: ID,
  paymentId: ID,
  reason: undefined,
} as const;

/** The subjects of these are names of lists and numbers of the inbox, which Tallyhook chooses. */
const WITHOUT_FOREIGN_IDS =
  /^(totals|list_unstable|filter_ignored|watermark_ahead|event_\w+|unreadable_event|label_conflict|foreign_(merchant|profile))$/;

function alertsAboutTheId(): readonly (Alert | undefined)[] {
  const hold = {
    ...payment,
    paymentId: ID,
    capturableMinor: 1000,
    deadlineMs: NOW_MS,
    thresholdHours: 6,
    isConfirmed: true,
    attempt: undefined,
  };
  const sinceMs = NOW_MS - 9 * DAY_MS;
  const term = { createdMs: sinceMs, termSinceMs: sinceMs, isOverdue: false, termDays: 3 };
  const late = { ...payment, before: undefined, ...term };
  const place = { ...payment, kind: undefined };
  const subjects = [`order:order:${ID}`, `payment:${ID}`, `refund:${ID}`];
  return [
    ...holdAlerts(ID, hold).active,
    ...(overdueAlerts(late, NOW_MS)?.active ?? []),
    ...FINDING_CLASSES_JUDGED.filter((name) => !WITHOUT_FOREIGN_IDS.test(name)).flatMap((name) =>
      subjects.map((subject) =>
        findingAlert({ class: name, subject, detail: {}, ageMs: 9 * DAY_MS, place }),
      ),
    ),
  ];
}

test('an id that begins with a dash is not an option of any command in an alert', () => {
  const steps = alertsAboutTheId().flatMap((alert) => alert?.nextStep ?? []);
  expect(steps.join('\n')).toContain(`npx tallyhook authorizations capture -- ${ID}`);
  expect(steps.join('\n')).toContain(`npx tallyhook orders explain -- ${ID}`);
  expect(steps.join('\n')).toContain(`npx tallyhook refresh -- ${ID}`);
  for (const step of steps) expect(step).not.toMatch(new RegExp(`(?<!--) ${ID}\\b`));
  expect(history({ ...payment, kind: 'payout' })).toBe(`npx tallyhook find -- ${ID}`);
});
