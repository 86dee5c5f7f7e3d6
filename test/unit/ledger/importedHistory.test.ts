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
