/** Since when the service's list is searched before a payout is paid again. */
import { afterEach, expect, test, vi } from 'vitest';
import { againSince } from '../../../src/actions/retryPayout.ts';
import { payoutSchema } from '../../../src/contract/resources/payout.ts';

afterEach(() => vi.unstubAllEnvs());

const since = (created: unknown) => againSince(payoutSchema.parse({ payout_id: 'po_1', created }));

test.each(['UTC', 'America/Los_Angeles', 'Asia/Tokyo'])(
  'since the first payout on a machine in %s, also where its time has no zone',
  (zone) => {
    vi.stubEnv('TZ', zone);
    expect(since('2026-11-02T10:00:00.123456')).toBe('2026-11-02T10:00:00.123Z');
    expect(since('2026-11-02T10:00:00Z')).toBe('2026-11-02T10:00:00.000Z');
    expect(since('2026-11-02T10:00:00+02:00')).toBe('2026-11-02T08:00:00.000Z');
  },
);

test.each([undefined, null, '', 'yesterday'])('completely where its time is %j', (created) => {
  expect(since(created)).toBeUndefined();
});
