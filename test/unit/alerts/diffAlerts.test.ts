/**
 * What changes when the rules were evaluated. Numbers in brackets refer to the invariants of
 * src/alerts/domain/alert.ts.
 */
import { describe, expect, test } from 'vitest';
import {
  type Alert,
  type AlertKey,
  diffAlerts,
  RULES,
  SEVERITIES,
  type SubjectAlerts,
  TERMINAL_RULES,
  type UnresolvedAlert,
} from '../../../src/alerts/domain/alert.ts';
import { alertOf } from '../../support/alerts.ts';

const SUBJECT = 'dispute:dp_1';
const opened = (fields: Partial<Alert> = {}) => alertOf({ subject: SUBJECT, ...fields });

/** The rule `dispute_opened` was evaluated for a subject, and what else the fields state. */
const evaluated = (fields: Partial<SubjectAlerts> = {}): SubjectAlerts => ({
  subject: SUBJECT,
  rules: ['dispute_opened'],
  active: [],
  ...fields,
});

const unresolved = (fields: Partial<UnresolvedAlert> = {}): UnresolvedAlert => ({
  id: 1,
  rule: 'dispute_opened',
  subject: SUBJECT,
  variant: '',
  severity: 'warning',
  isAcknowledged: false,
  isSnoozed: false,
  ...fields,
});

const diff = (
  subjects: readonly SubjectAlerts[],
  stored: readonly UnresolvedAlert[] = [],
  written: readonly AlertKey[] = [],
) => diffAlerts(subjects, { unresolved: stored, written });

const NOTHING = { opened: [], kept: [], resolved: [], oneTime: [] };

describe('opening [2]', () => {
  test('an active alert that is not stored opens, with the event that causes it', () => {
    const alert = opened();
    expect(diff([evaluated({ active: [alert], causedBy: 7 })])).toEqual({
      ...NOTHING,
      opened: [{ ...alert, causedBy: 7 }],
    });
    expect(diff([evaluated({ active: [alert] })]).opened).toEqual([{ ...alert, causedBy: null }]);
  });

  test('it opens once, however often the rule was evaluated', () => {
    const twice = [evaluated({ active: [opened()] }), evaluated({ active: [opened()] })];
    expect(diff(twice).opened).toHaveLength(1);
  });

  test.each([
    ['rule', { rule: 'dispute_deadline' }],
    ['subject', { subject: 'dispute:dp_2' }],
    ['variant', { variant: 'arbitration' }],
  ] as const)('a stored alert with another %s is another alert', (_, fields) => {
    const changes = diff([evaluated({ active: [opened()] })], [unresolved(fields)]);
    expect(changes.opened).toHaveLength(1);
    expect(changes.kept).toEqual([]);
  });

  test('none opens while its condition is not confirmed, but an open one is updated', () => {
    const deferred = evaluated({
      active: [opened({ detail: { excess: 2 } })],
      isOpeningDeferred: true,
    });
    expect(diff([deferred])).toEqual(NOTHING);
    expect(diff([deferred], [unresolved()])).toEqual({
      ...NOTHING,
      kept: [{ id: 1, alert: deferred.active[0], notifies: false }],
    });
  });
});

describe('an alert that stays active notifies again [3, 5, 6]', () => {
  const handled = { isAcknowledged: true };
  const snoozed = { isSnoozed: true };
  test.each<[string, Partial<UnresolvedAlert>, Partial<SubjectAlerts>, boolean]>([
    ['not without a reason', {}, {}, false],
    ['when it becomes more severe', { severity: 'info' }, {}, true],
    ['not when it becomes less severe', { severity: 'critical' }, {}, false],
    ['when a reminder is due', {}, { isReminderDue: true }, true],
    ['for no reminder if a person handles it', handled, { isReminderDue: true }, false],
    ['when it becomes more severe, also if handled', { ...handled, severity: 'info' }, {}, true],
    ['for no reminder while it is snoozed', snoozed, { isReminderDue: true }, false],
    ['not while it is snoozed, even if more severe', { ...snoozed, severity: 'info' }, {}, false],
  ])('%s', (_, stored, fields, notifies) => {
    const alert = opened({ severity: 'warning' });
    const changes = diff([evaluated({ active: [alert], ...fields })], [unresolved(stored)]);
    expect(changes).toEqual({ ...NOTHING, kept: [{ id: 1, alert, notifies }] });
  });

  test('severities have an order, and each higher one notifies', () => {
    expect(SEVERITIES).toEqual(['info', 'warning', 'critical']);
    const [stored, alert] = [unresolved(), opened({ severity: 'critical' })];
    expect(diff([evaluated({ active: [alert] })], [stored]).kept).toMatchObject([
      { notifies: true },
    ]);
  });
});

describe('resolution [4, 6]', () => {
  test('an alert is resolved when its rule was evaluated and no longer raises it', () => {
    expect(diff([evaluated({ causedBy: 9 })], [unresolved()])).toEqual({
      ...NOTHING,
      resolved: [{ id: 1, notifies: true, causedBy: 9 }],
    });
    expect(diff([evaluated()], [unresolved()]).resolved).toEqual([
      { id: 1, notifies: true, causedBy: null },
    ]);
  });

  test('an alert of a rule or a subject that was not evaluated stays', () => {
    expect(diff([evaluated({ rules: ['dispute_deadline'] })], [unresolved()])).toEqual(NOTHING);
    expect(diff([evaluated({ subject: 'dispute:dp_2' })], [unresolved()])).toEqual(NOTHING);
    expect(diff([], [unresolved()])).toEqual(NOTHING);
  });

  test('a snoozed alert is resolved without a notification', () => {
    expect(diff([evaluated()], [unresolved({ isSnoozed: true })]).resolved).toMatchObject([
      { notifies: false },
    ]);
  });

  test('the alert that replaces it notifies instead', () => {
    const replaced = evaluated({ active: [opened({ variant: 'arbitration' })] });
    const changes = diff([replaced], [unresolved()]);
    expect(changes.opened).toHaveLength(1);
    expect(changes.resolved).toMatchObject([{ id: 1, notifies: false }]);
  });

  test('a one-time alert about the subject notifies instead', () => {
    const won = evaluated({ oneTime: [opened({ rule: 'dispute_won' })] });
    expect(diff([won], [unresolved()]).resolved).toMatchObject([{ id: 1, notifies: false }]);
    // One that was written before does not notify, so the resolution does.
    const before = [{ rule: 'dispute_won', subject: SUBJECT, variant: '' } as const];
    expect(diff([won], [unresolved()], before).resolved).toMatchObject([{ notifies: true }]);
  });

  test('a less severe one does not: a channel may get only the more severe', () => {
    const critical = unresolved({ severity: 'critical' });
    const won = evaluated({ oneTime: [opened({ rule: 'dispute_won', severity: 'info' })] });
    expect(diff([won], [critical]).resolved).toMatchObject([{ notifies: true }]);
    const warning = evaluated({ active: [opened({ variant: 'arbitration' })] });
    expect(diff([warning], [critical]).resolved).toMatchObject([{ notifies: true }]);
    expect(diff([warning, won], [unresolved()]).resolved).toMatchObject([{ notifies: false }]);
    expect(diff([won], [unresolved()]).resolved).toMatchObject([{ notifies: true }]);
  });

  test('an alert about another subject does not notify instead', () => {
    const other = evaluated({
      subject: 'dispute:dp_2',
      active: [opened({ subject: 'dispute:dp_2' })],
    });
    expect(diff([evaluated(), other], [unresolved()]).resolved).toMatchObject([{ notifies: true }]);
  });
});

describe('one-time alerts [8]', () => {
  const won = opened({ rule: 'dispute_won', variant: 'dispute' });

  test('one is written, with the event that causes it', () => {
    expect(diff([evaluated({ oneTime: [won], causedBy: 5 })])).toEqual({
      ...NOTHING,
      oneTime: [{ ...won, causedBy: 5 }],
    });
    expect(diff([evaluated({ oneTime: [won] })]).oneTime).toEqual([{ ...won, causedBy: null }]);
  });

  test('it is written once for each key', () => {
    const { rule, subject, variant } = won;
    const again = (written: AlertKey) => diff([evaluated({ oneTime: [won] })], [], [written]);
    expect(again({ rule, subject, variant })).toEqual(NOTHING);
    expect(again({ rule, subject, variant: 'arbitration' }).oneTime).toHaveLength(1);
    expect(again({ rule: 'dispute_lost', subject, variant }).oneTime).toHaveLength(1);
    expect(again({ rule, subject: 'dispute:dp_2', variant }).oneTime).toHaveLength(1);
  });
});

test('only alerts about what is final are resolved by a person [7]', () => {
  expect(TERMINAL_RULES).toEqual(['dispute_lost', 'payout_failed', 'refund_failed']);
  for (const rule of TERMINAL_RULES) expect(RULES).toContain(rule);
});
