/** Rules are those of src/doctor/domain/judgeProfiles.ts. */
import { describe, expect, test } from 'vitest';
import {
  chooseProfiles,
  judgeAddresses,
  judgeEvents,
  judgeSecrets,
  type ProfileFacts,
} from '../../../src/doctor/domain/judgeProfiles.ts';

const PATH_ONLY = { webhookPath: '/webhooks', publicUrl: undefined };
const WHOLE = { webhookPath: '/webhooks', publicUrl: 'https://hooks.shop.example/webhooks' };

function profile(more: Partial<ProfileFacts> = {}, url?: string | null): ProfileFacts {
  return { profileId: 'pro_1', details: { webhook_url: url }, secret: 1, ...more };
}

describe('the selected profiles', () => {
  const one = profile();
  const two = profile({ profileId: 'pro_2' });
  const listed = { kind: 'profiles', profiles: [one, two] } as const;

  test('are all of the account, or the one that is named', () => {
    expect(chooseProfiles(listed, undefined, PATH_ONLY).chosen).toEqual([one, two]);
    expect(chooseProfiles(listed, 'pro_2', PATH_ONLY).chosen).toEqual([two]);
  });

  test.each([
    [listed, 'failed: the account has no profile pro_3; it has pro_1, pro_2'],
    [
      { kind: 'profiles', profiles: [] },
      'failed: the account has no profile, so no webhook is sent',
    ],
    [{ kind: 'absent' }, 'not_checked: the service shows no business profiles of this account'],
    [
      { kind: 'not_requested', reason: 'no key is set', remedy: 'Set it.' },
      'not_checked: no key is set',
    ],
  ] as const)('%j: %s (rule 1)', (listed, expected) => {
    const { chosen, judgment } = chooseProfiles(listed, 'pro_3', PATH_ONLY);
    expect(chosen).toBeUndefined();
    expect(`${judgment.state}: ${judgment.result}`).toContain(expected);
    expect(judgment.remedy).toMatch(/\.$/);
  });
});

test.each([
  [
    PATH_ONLY,
    'https://any.example/webhooks',
    'ok',
    /set WEBHOOK_PUBLIC_URL to compare the full address/,
  ],
  [PATH_ONLY, 'https://any.example/webhooks?token=hunter2', 'ok', /any\.example\/webhooks:/],
  [PATH_ONLY, 'https://any.example/hooks', 'warning', /this receiver's path is \/webhooks/],
  [PATH_ONLY, 'https://any.example/webhooks/', 'warning', /this receiver's path is/],
  [PATH_ONLY, null, 'failed', /no address, so no webhook is sent/],
  [PATH_ONLY, undefined, 'failed', /no address/],
  [PATH_ONLY, '', 'failed', /no address/],
  [PATH_ONLY, 'webhooks', 'failed', /an invalid address/],
  [WHOLE, 'https://hooks.shop.example/webhooks', 'ok', /which is this receiver$/],
  [WHOLE, 'https://hooks.shop.example:443/webhooks', 'ok', /which is this receiver$/],
  [WHOLE, 'https://user:hunter2@other.example/webhooks', 'failed', /other\.example\/webhooks$/],
  [WHOLE, 'http://hooks.shop.example/webhooks', 'failed', /to http:/],
])('%j, and webhooks go to %s: %s', (receiver, url, state, result) => {
  const judgment = judgeAddresses([profile({}, url)], receiver);
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
  expect(judgment.remedy === null).toBe(state === 'ok');
  // Rule 3.
  expect(`${judgment.result} ${judgment.remedy}`).not.toContain('hunter2');
});

test.each([
  [1, 'ok', /secret 1 of/],
  [3, 'ok', /secret 3 of/],
  ['other', 'failed', /its webhooks are rejected/],
  ['hidden', 'not_checked', /does not show/],
] as const)('a secret that compares as %s: %s', (secret, state, result) => {
  const judgment = judgeSecrets([profile({ secret })], 'service');
  expect(judgment.state).toBe(state);
  expect(judgment.result).toMatch(result);
});

test('a secret of the sandbox that no receiver knows names the setting that both share', () => {
  const judgment = judgeSecrets([profile({ secret: 'other' })], 'sandbox');
  expect(judgment.state).toBe('failed');
  expect(judgment.result).toMatch(/^the sandbox \(pro_1\) signs with a secret that the receiver/);
  expect(judgment.remedy).toContain('SANDBOX_WEBHOOK_SECRET');
});

test.each([
  [undefined, 'ok'],
  [null, 'ok'],
  [{}, 'ok'],
  [{ payment_created_enabled: true, refund_statuses_enabled: [] }, 'ok'],
  [{ payment_failed_enabled: false }, 'warning'],
  [{ payout_statuses_enabled: ['success'] }, 'warning'],
])('a profile with the switches %j: %s', (details, state) => {
  expect(judgeEvents([profile({ details })]).state).toBe(state);
});

test('a warning is worse than what was not checked, and better than a failure (rule 2)', () => {
  const at = (profileId: string, url: string | null) => profile({ profileId }, url);
  const judgment = judgeAddresses(
    [
      at('pro_1', 'https://a.example/hooks'),
      at('pro_2', null),
      at('pro_3', 'https://a.example/webhooks'),
    ],
    PATH_ONLY,
  );
  expect(judgment.state).toBe('failed');
  expect(judgment.result.split('\n').map((line) => line.slice(0, 5))).toEqual([
    'pro_2',
    'pro_1',
    'pro_3',
  ]);
});

test('the worst of several profiles decides, and each is named (rule 2)', () => {
  const judgment = judgeSecrets(
    [
      profile(),
      profile({ profileId: 'pro_2', secret: 'hidden' }),
      profile({ profileId: 'pro_3', secret: 'other' }),
    ],
    'service',
  );
  expect(judgment.state).toBe('failed');
  expect(judgment.result.split('\n').map((line) => /pro_\d/.exec(line)?.[0])).toEqual([
    'pro_3',
    'pro_2',
    'pro_1',
  ]);
  expect(judgment.remedy).toMatch(/pro_3/);
});
