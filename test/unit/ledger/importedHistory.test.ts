/** What a run takes for history, of which nobody is notified. */
import { expect, test } from 'vitest';
import { historyOf, isImportedHistory } from '../../../src/ledger/domain/importedHistory.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/time.ts';

const NOW_MS = Date.UTC(2026, 10, 30);
const INSTALLED_MS = NOW_MS - 20 * DAY_MS;

test.each([
  ['a first import', false],
  ['a later run', true],
])(
  'a change since the installation is news to %s, however far behind the clock of the service is',
  (_name, isImported) => {
    const skewMs = -30 * DAY_MS;
    const history = historyOf({ installedMs: INSTALLED_MS, isImported, nowMs: NOW_MS, skewMs });
    const changed = (atMs: number) => ({ versionMicros: (atMs + skewMs) * 1000 });
    expect(isImportedHistory(null, changed(INSTALLED_MS + HOUR_MS), history)).toBe(false);
    expect(isImportedHistory(null, changed(INSTALLED_MS - HOUR_MS), history)).toBe(true);
  },
);

test('a clock that is ahead makes nothing history that is news by its time', () => {
  const parts = { installedMs: INSTALLED_MS, isImported: false, nowMs: NOW_MS };
  expect(historyOf({ ...parts, skewMs: 3 * DAY_MS })).toEqual(historyOf({ ...parts, skewMs: 0 }));
});

test.each([
  ['a first import', false, 2, { untilMs: NOW_MS - 2 * DAY_MS, includesUndated: true }],
  ['a later run', true, 2, { untilMs: NOW_MS - 8 * DAY_MS, includesUndated: false }],
  ['a later run', true, 20, { untilMs: INSTALLED_MS, includesUndated: false }],
])(
  'to %s (%s), %i days after the installation, history is %j',
  (_name, isImported, days, history) => {
    const installedMs = NOW_MS - days * DAY_MS;
    expect(historyOf({ installedMs, isImported, nowMs: NOW_MS, skewMs: 0 })).toEqual(history);
  },
);

const HISTORY = { untilMs: INSTALLED_MS, includesUndated: true };
const OLD = { versionMicros: INSTALLED_MS * 1000 - 1 };

test('a change in the microsecond of the installation is news, and the one before it is history', () => {
  expect(isImportedHistory(null, OLD, HISTORY)).toBe(true);
  expect(isImportedHistory(null, { versionMicros: INSTALLED_MS * 1000 }, HISTORY)).toBe(false);
});

test('what has no version is as old as its creation, and what has no time is as the run takes it', () => {
  expect(isImportedHistory(null, { createdMicros: OLD.versionMicros }, HISTORY)).toBe(true);
  expect(isImportedHistory(null, { createdMicros: INSTALLED_MS * 1000 }, HISTORY)).toBe(false);
  for (const includesUndated of [true, false]) {
    expect(isImportedHistory(null, {}, { ...HISTORY, includesUndated })).toBe(includesUndated);
  }
});

test('a change to a known state is news, and so is one that no run reads, however old they are', () => {
  expect(isImportedHistory('processing', OLD, HISTORY)).toBe(false);
  expect(isImportedHistory(null, OLD, undefined)).toBe(false);
});
