/** Numbers refer to the rules of src/reconcile/domain/behind.ts. */
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/platform/time.ts';
import { countsInMs, staysBehind } from '../../../src/reconcile/domain/behind.ts';

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

describe('a response with an older version than the ledger (rule 4)', () => {
  const ledger = {
    status: 'failed',
    stage: null,
    amountMinor: 6540,
    currency: 'USD',
    capturedMinor: 0,
    versionMicros: 2_000_000,
  };
  const paid = { status: 'succeeded', amountReceivedMinor: 6540, versionMicros: 1_000_000 };
  const countsIn = (content: object, observedMs: number) =>
    countsInMs({ content, observedMicros: observedMs * 1000 }, ledger);

  test('counts an hour after that version if it shows something else', () => {
    expect(countsIn(paid, 5_000)).toBe(HOUR_MS - 3_000);
    expect(countsIn({ ...paid, status: 'failed' }, 5_000)).toBeUndefined();
    expect(countsIn({ ...paid, status: undefined }, 5_000)).toBeUndefined();
    expect(countsIn(paid, 2_000 + HOUR_MS)).toBeUndefined();
    // Not a part of a millisecond too early.
    expect(countsIn(paid, 5_000.4)).toBe(HOUR_MS - 3_000);
  });

  test('counts at once if its version is not older', () => {
    expect(countsIn({ ...paid, versionMicros: 2_000_000 }, 5_000)).toBeUndefined();
    expect(countsIn({ ...paid, versionMicros: undefined }, 5_000)).toBeUndefined();
  });

  test('differs also by the captured amount or the stage alone', () => {
    const captured = { ...ledger, status: 'succeeded', capturedMinor: 40 };
    const response = { content: paid, observedMicros: 5_000_000 };
    expect(countsInMs(response, captured)).toBe(HOUR_MS - 3_000);
    expect(countsInMs(response, { ...captured, capturedMinor: 6540 })).toBeUndefined();
    const dispute = { ...ledger, status: 'opened', stage: 'arbitration' };
    const content = { status: 'opened', stage: 'dispute', versionMicros: 1_000_000 };
    const won = { ...content, status: 'won', stage: 'arbitration' };
    expect(countsInMs({ content: won, observedMicros: 5_000_000 }, dispute)).toBe(HOUR_MS - 3_000);
    expect(countsInMs({ content, observedMicros: 5_000_000 }, dispute)).toBe(HOUR_MS - 3_000);
  });

  test('differs also by the amount or the currency alone, as of a dispute that was lost in part', () => {
    const lost = { status: 'failed', amountMinor: 6540, currency: 'USD', versionMicros: 1_000_000 };
    expect(countsIn(lost, 5_000)).toBeUndefined();
    expect(countsIn({ ...lost, amountMinor: 4000 }, 5_000)).toBe(HOUR_MS - 3_000);
    expect(countsIn({ ...lost, currency: 'EUR' }, 5_000)).toBe(HOUR_MS - 3_000);
  });
});
