/** service-interface.md §2.9; its fields: docs/decisions/0015. */
import { expect } from 'vitest';
import { SANDBOX_SECRET } from '../support/sandbox.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

const PATH = '/account/merchant_local/business_profile';

testOfOurs('the profile has the current address and signing secret of webhooks', async () => {
  const read = async () => expectResponse('listBusinessProfiles', await target.call('GET', PATH));
  expect(await read()).toMatchObject([
    {
      merchant_id: 'merchant_local',
      profile_id: target.profileId,
      payment_response_hash_key: SANDBOX_SECRET,
      webhook_details: { webhook_url: expect.stringMatching(/^http:/) },
    },
  ]);
  const url = 'https://shop.example/webhooks';
  await target.control('PUT', '/webhook', { url, secret: 'another-secret-0123' });
  expect(await read()).toMatchObject([
    { payment_response_hash_key: 'another-secret-0123', webhook_details: { webhook_url: url } },
  ]);
  await target.control('PUT', '/webhook', { url: null });
  expect(await read()).toMatchObject([{ webhook_details: { webhook_url: null } }]);
});

testOfOurs('of another merchant there is none: 404', async () => {
  const path = `/account/${freshId('other')}/business_profile`;
  expectError(await target.call('GET', path), 404, 'IR_05');
});
