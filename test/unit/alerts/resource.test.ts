/** Which changes are too old to raise an alert when they are observed first. */
import { expect, test } from 'vitest';
import { resourceAlerts } from '../../../src/alerts/domain/rules/resource.ts';
import { DAY_MS } from '../../../src/platform/time.ts';
import { facts, NOW_MS } from './facts.ts';

const LIMIT_MS = 8 * DAY_MS;
const alertsOf = (fields: Omit<Parameters<typeof facts>[0], 'kind'>) =>
  resourceAlerts(facts({ kind: 'refund', status: 'failed', ...fields }), NOW_MS).flatMap(
    ({ active }) => active.map(({ rule }) => rule),
  );

test('a change that the nightly comparison can have missed raises its alert, an older one does not', () => {
  expect(alertsOf({ versionMs: NOW_MS - LIMIT_MS })).toEqual(['refund_failed']);
  expect(alertsOf({ versionMs: NOW_MS - LIMIT_MS - 1 })).toEqual([]);
});

test('the last change counts, and the creation only if the service gives no other time', () => {
  const createdMs = NOW_MS - LIMIT_MS - 1;
  expect(alertsOf({ createdMs, versionMs: NOW_MS })).toEqual(['refund_failed']);
  expect(alertsOf({ createdMs, versionMs: undefined })).toEqual([]);
  expect(alertsOf({ createdMs: NOW_MS, versionMs: undefined })).toEqual(['refund_failed']);
  expect(alertsOf({ createdMs: undefined, versionMs: undefined })).toEqual(['refund_failed']);
});

test('an event reports a change when it is sent, if the service gives no time of the change', () => {
  const old = { createdMs: NOW_MS - 90 * DAY_MS, versionMs: undefined };
  expect(alertsOf({ ...old, reportedMs: NOW_MS - LIMIT_MS })).toEqual(['refund_failed']);
  expect(alertsOf({ ...old, reportedMs: NOW_MS - LIMIT_MS - 1 })).toEqual([]);
  expect(alertsOf({ versionMs: NOW_MS - LIMIT_MS - 1, reportedMs: NOW_MS })).toEqual([]);
});

test('a resource that was observed before raises its alert, however old the change is', () => {
  const before = { status: 'pending' };
  expect(alertsOf({ before, versionMs: NOW_MS - 90 * DAY_MS })).toEqual(['refund_failed']);
});
