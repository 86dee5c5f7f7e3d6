/**
 * Unit test files share one worker. Global state that a file changes and does not restore could make
 * another file fail, or pass, depending on their order; this check makes the file itself fail.
 */
import { afterAll, expect, vi } from 'vitest';

/** Not `exit`: libraries listen for it until the process ends. */
const EVENTS = ['SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection', 'warning'];

const before = globalState();

afterAll(() => {
  const after = globalState();
  const names = new Set([...before.keys(), ...after.keys()]);
  const leaks = [...names].filter((name) => before.get(name) !== after.get(name));
  expect(leaks, 'global state that this file must restore').toEqual([]);
});

/** By name, so that a failure prints no value of the environment. */
function globalState(): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ['working folder', process.cwd()],
    ['fake timers', vi.isFakeTimers()],
    ['Date', Date],
    ['setTimeout', setTimeout],
    ['fetch', fetch],
    ...EVENTS.map((event) => [`listeners of ${event}`, process.listenerCount(event)] as const),
    ...Object.entries(process.env).map(([name, value]) => [`$${name}`, value] as const),
  ]);
}
