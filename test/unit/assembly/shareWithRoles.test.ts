import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Shared, shareWithRoles } from '../../../src/assembly/shared.ts';
import { createGate } from '../../../src/platform/db/gate.ts';
import { createLog } from '../../../src/platform/log.ts';

const log = createLog('silent');

test('no role starts its work after its close, when the database returns while the process ends', async () => {
  let isReachable = false;
  let retry: () => void = () => undefined;
  const gate = await createGate(
    () => (isReachable ? Promise.resolve() : Promise.reject(new Error('connect ECONNREFUSED'))),
    () => true,
    log,
    () =>
      new Promise((resolve) => {
        retry = resolve;
      }),
  );
  const started: string[] = [];
  const shared = { gate, log } as Shared;
  const { forRole, close } = shareWithRoles(shared, 'postgres://unused.example/tallyhook');
  forRole().gate.whenOpen(() => started.push('the work of the role'));

  await close();
  isReachable = true;
  retry();
  await setImmediate();
  expect(started).toEqual([]);
});
