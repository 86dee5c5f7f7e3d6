/** Numbers refer to the rules of src/reconcile/domain/behind.ts. */
import { describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { staysBehind } from '../../../src/reconcile/domain/behind.ts';

const event = { behindForMs: 5 * MINUTE_MS, behindMicros: 200 };

test('without an event nothing is behind', () => {
  const none = { behindForMs: null, behindMicros: null };
  expect(staysBehind(none, { sentMsAgo: 0, versionMicros: undefined })).toBe(false);
});

describe('a response with a version (rule 1)', () => {
  test.each([
    [199, true],
    [200, false],
    [201, false],
  ])('%d to an event of version 200: behind is %s', (versionMicros, isBehind) => {
    expect(staysBehind(event, { sentMsAgo: 0, versionMicros })).toBe(isBehind);
    // It counts although the request was sent before the event arrived.
    expect(staysBehind(event, { sentMsAgo: 6 * MINUTE_MS, versionMicros })).toBe(isBehind);
  });
});

describe('without a version to compare (rule 2)', () => {
  test.each([
    ['the event', { ...event, behindMicros: null }, 300],
    ['the response', event, undefined],
  ])('in %s, requests from a minute after the event on count', (_, behind, versionMicros) => {
    const isBehind = (sentMsAgo: number) => staysBehind(behind, { sentMsAgo, versionMicros });
    expect(isBehind(4 * MINUTE_MS + 1)).toBe(true);
    expect(isBehind(4 * MINUTE_MS)).toBe(false);
  });
});

test('a day after the event any response ends it (rule 3)', () => {
  const isBehind = (behindForMs: number) =>
    staysBehind({ ...event, behindForMs }, { sentMsAgo: 1_000, versionMicros: 1 });
  expect(isBehind(DAY_MS + 999)).toBe(true);
  expect(isBehind(DAY_MS + 1_000)).toBe(false);
});
