import { expect, test } from 'vitest';
import type { Channel } from '../../../src/notify/channels/channel.ts';
import type { AttemptResult } from '../../../src/notify/domain/retry.ts';
import { countDeliveries } from '../../../src/notify/metrics.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { parseMetrics } from '../../support/metrics.ts';

const message = {
  id: 'msg_1',
  content: { kind: 'digest', groups: [] },
  createdAt: new Date(0),
} as unknown as Parameters<Channel['send']>[0];

test('every attempt is counted by channel and outcome, and its result is returned unchanged', async () => {
  const results: (() => Promise<AttemptResult>)[] = [
    () => Promise.resolve({ outcome: 'unavailable', response: '503' }),
    () => Promise.reject(new TypeError('cannot be formatted')),
    () => Promise.resolve({ outcome: 'delivered', response: '200' }),
    () => Promise.resolve({ outcome: 'delivered', response: '200' }),
  ];
  const slack: Channel = { name: 'slack', slots: 2, send: () => results.shift()?.() ?? fail() };
  const metrics = createMetrics();
  const [counted] = countDeliveries([slack], metrics);

  expect(counted).toMatchObject({ name: 'slack', slots: 2 });
  expect(await counted?.send(message)).toEqual({ outcome: 'unavailable', response: '503' });
  await expect(counted?.send(message)).rejects.toThrow('cannot be formatted');
  await counted?.send(message);
  await counted?.send(message);

  const page = parseMetrics(await metrics.render());
  const count = (channel: string, outcome: string) =>
    page.value('tallyhook_deliveries_total', { channel, outcome });
  expect(count('slack', 'delivered')).toBe(2);
  expect(count('slack', 'unavailable')).toBe(1);
  expect(count('slack', 'refused')).toBe(1);
  expect(count('slack', 'gone')).toBe(0);
  expect(count('mail', 'delivered')).toBe(0);
});

function fail(): never {
  throw new Error('more attempts than results');
}
