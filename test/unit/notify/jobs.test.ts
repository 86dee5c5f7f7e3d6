import { expect, test } from 'vitest';
import { type AlertsJob, CLOCK_CORRECTION_MS, enqueueWakeUps } from '../../../src/notify/jobs.ts';
import type { NewJob } from '../../../src/platform/queue/index.ts';

test('a delayed wake-up arrives after its message is due, also if the clock is set back meanwhile', async () => {
  const added: NewJob<AlertsJob>[] = [];
  const producer = {
    add: (jobs: readonly NewJob<AlertsJob>[]): Promise<void> => {
      added.push(...jobs);
      return Promise.resolve();
    },
  };
  await enqueueWakeUps(producer, [{ channel: 'webhook', delayMs: 3_750 }, { channel: 'mail' }]);
  expect(added.map(({ delayMs }) => delayMs)).toEqual([3_750 + CLOCK_CORRECTION_MS, 0]);
});
