/**
 * A shop passes settings as `process.env.NAME ?? ''`. Where the variable is not set, the error states that, and not
 * what the characters of an empty text would have to be.
 */
import { expect, test } from 'vitest';
import { createAdminApiClient } from '../../../src/adminApi/index.ts';
import { createClient, verifyTallyhookWebhook } from '../../../src/client/index.ts';

const baseUrl = 'https://payments.example';
const verify = (secret: string | readonly string[]) =>
  verifyTallyhookWebhook({ body: '{}', headers: {} }, { secret });

test.each([
  ['baseUrl is empty', () => createClient({ baseUrl: '', apiKey: 'snd_1' })],
  ['apiKey is empty', () => createClient({ baseUrl, apiKey: '' })],
  ['token is empty', () => createAdminApiClient({ baseUrl, token: '' })],
  ['secret is empty', () => verify('')],
  ['secret is empty', () => verify(undefined as unknown as string)],
  ['secret is empty', () => verify('whsec_AAAA,')],
  ['secret is empty', () => verify(['whsec_AAAA', undefined as unknown as string])],
  ['secret is an empty list', () => verify([])],
] as const)('a setting from an unset variable is refused: %s', (message, attempt) => {
  expect(attempt).toThrow(TypeError);
  expect(attempt).toThrow(message);
});
