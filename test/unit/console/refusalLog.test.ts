import { expect, test } from 'vitest';
import { createRefusalLog, MAX_LINES } from '../../../src/console/refusalLog.ts';
import { createLog } from '../../../src/platform/log.ts';

test('a minute has a bounded number of lines, and the next line has how many were left out', () => {
  let nowMs = 0;
  const lines: Record<string, unknown>[] = [];
  const log = createLog('warn', (line) => lines.push(JSON.parse(line)));
  const logRefusal = createRefusalLog(log, { nowMs: () => nowMs });
  for (let host = 0; host < MAX_LINES + 70; host += 1) {
    logRefusal({ address: `192.0.2.${host}` }, 'console.unauthorized');
  }
  expect(lines).toHaveLength(MAX_LINES);
  expect(lines[0]).toMatchObject({ msg: 'console.unauthorized', address: '192.0.2.0' });
  nowMs += 60_000;
  logRefusal({ address: '192.0.2.200' }, 'console.unauthorized');
  logRefusal({ address: '192.0.2.201' }, 'console.unauthorized');
  expect(lines.slice(MAX_LINES).map(({ notLogged }) => notLogged)).toEqual([70, undefined]);
});
