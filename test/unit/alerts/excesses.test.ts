/** Numbers are the rules of src/alerts/domain/rules/excesses.ts. */
import { expect, test } from 'vitest';
import {
  confirmationWaitMs,
  EXCESS_CLASSES,
  isExcess,
} from '../../../src/alerts/domain/rules/excesses.ts';
import { ALERTING_CLASSES } from '../../../src/alerts/domain/rules/findings.ts';
import { MINUTE_MS } from '../../../src/platform/time.ts';

test('findings that claim that too much money of an order moved await confirmation (rule 1)', () => {
  const excesses = ['double_paid', 'double_loss', 'dispute_and_refund', 'over_refund'];
  expect(ALERTING_CLASSES.filter(isExcess)).toEqual(excesses);
  expect([...EXCESS_CLASSES].toSorted()).toEqual(excesses.toSorted());
});

test('without an API key an excess alerts after 20 minutes, otherwise after a day without responses (rule 3)', () => {
  expect(confirmationWaitMs(false)).toBe(20 * MINUTE_MS);
  expect(confirmationWaitMs(true)).toBe(24 * 60 * MINUTE_MS);
});
