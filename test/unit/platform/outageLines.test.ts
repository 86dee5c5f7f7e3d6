/** The numbers are the invariants of src/platform/outageLines.ts. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { toQueueFailure } from '../../../src/platform/queue/problem.ts';
import { MINUTE_MS } from '../../../src/platform/time.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly notLogged?: Readonly<Record<string, number>>;
  readonly error?: { readonly message: string };
}

const lines: Line[] = [];
const log = () => createLog('info', (line) => lines.push(JSON.parse(line) as Line));
const away = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

beforeEach(() => {
  vi.useFakeTimers();
  lines.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

test('an outage of an hour logs one line a minute, with the counts of the suppressed lines [1]', () => {
  const busy = log();
  const worker = busy.child({ role: 'events' });
  const outage = setInterval(() => {
    busy.error({ error: away(), events: 500 }, 'intake.not_acknowledged');
    worker.warn({ error: away() }, 'queue.consumer_error');
  }, 100);
  vi.advanceTimersByTime(60 * MINUTE_MS);
  clearInterval(outage);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  const after = lines.length;
  vi.advanceTimersByTime(60 * MINUTE_MS);

  expect(lines[0]).toMatchObject({ level: 'error', msg: 'intake.not_acknowledged' });
  expect(lines.slice(1).every(({ msg }) => msg === 'outage.continues')).toBe(true);
  expect(lines.length).toBeLessThanOrEqual(1 + 61);
  expect(lines[1]).toMatchObject({ level: 'warn', error: { message: 'connect ECONNREFUSED' } });
  const counted = lines.flatMap(({ notLogged }) => Object.values(notLogged ?? {}));
  expect(1 + counted.reduce((sum, count) => sum + count, 0)).toBe(60 * 600 * 2);
  expect(lines).toHaveLength(after);
});

test('an outage after a quiet minute is logged at once [2]', () => {
  const quiet = log();
  quiet.warn({ error: away() }, 'database.idle_connection_lost');
  vi.advanceTimersByTime(MINUTE_MS + 1);
  quiet.warn({ error: away() }, 'database.idle_connection_lost');
  expect(lines.map(({ msg }) => msg)).toEqual([
    'database.idle_connection_lost',
    'database.idle_connection_lost',
  ]);
});

test('lines that are not about an outage are always logged [3]', () => {
  const busy = log();
  busy.warn({ error: away() }, 'intake.not_acknowledged');
  busy.error({ error: new Error('wrong') }, 'intake.not_acknowledged');
  busy.info({ events: 3 }, 'sweep.enqueued');
  busy.info('process.stopped');
  expect(lines.map(({ msg }) => msg)).toEqual([
    'intake.not_acknowledged',
    'intake.not_acknowledged',
    'sweep.enqueued',
    'process.stopped',
  ]);
});

test('a queue that refuses its commands is an outage of its own [1, 4]', () => {
  const busy = log();
  const refused = () => toQueueFailure(new Error("NOPERM no permissions to run 'evalsha'"));
  busy.warn({ error: away() }, 'intake.not_acknowledged');
  for (let n = 0; n < 1_000; n += 1) busy.warn({ error: refused() }, 'queue.consumer_error');
  expect(lines.map(({ msg }) => msg)).toEqual(['intake.not_acknowledged', 'queue.consumer_error']);
  vi.advanceTimersByTime(MINUTE_MS + 1);
  expect(lines.slice(2)).toEqual([
    expect.objectContaining({
      msg: 'outage.continues',
      outage: 'queue',
      notLogged: { 'queue.consumer_error': 999 },
    }),
  ]);
});

test('an error of an unreachable server stays one, also when a queue reports it [4]', () => {
  const busy = log();
  busy.warn({ error: away() }, 'intake.not_acknowledged');
  busy.warn({ error: toQueueFailure(away()) }, 'queue.consumer_error');
  expect(lines.map(({ msg }) => msg)).toEqual(['intake.not_acknowledged']);
});
