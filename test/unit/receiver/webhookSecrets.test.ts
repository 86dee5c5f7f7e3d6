/** A receiver with a weak or missing secret must not start: its verification would prove nothing. */
import { describe, expect, it } from 'vitest';
import { sandboxSecretOf, webhookSecretsOf } from '../../../src/assembly/settings.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { OperatorError } from '../../../src/platform/errors.ts';

const GOOD = 'a-good-secret-0123456789abcdefgh';

function refusalOf(secrets: string): string {
  try {
    loadConfig({ WEBHOOK_SECRETS: secrets });
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError);
    return String(error);
  }
  throw new Error('the settings were taken');
}

describe('WEBHOOK_SECRETS', () => {
  it.each([
    ['empty', '', 1],
    ['one character', 'x', 1],
    ['31 bytes', 'thirty-one-bytes-are-not-enough', 1],
    ['an empty first entry', `,${GOOD}`, 1],
    ['an empty last entry', `${GOOD},`, 2],
    ['an empty entry between', `${GOOD},,${GOOD}-old`, 2],
    ['nothing but a comma', ',', 1],
    ['a short last entry', `${GOOD},short-secret`, 2],
  ])('is refused by name, without its value: %s', (_, secrets, place) => {
    const message = refusalOf(secrets);

    expect(message).toContain(
      `WEBHOOK_SECRETS (entry ${place} of the list): must be at least 32 bytes long`,
    );
    for (const secret of secrets.split(',')) {
      if (secret.length > 1) expect(message).not.toContain(secret);
    }
  });

  // Such a placeholder is long enough, and the first that is tried.
  it.each([
    ['one character', 'x'.repeat(64)],
    ['7 different characters', 'abcdefg'.repeat(5)],
  ])('is refused if it repeats itself: %s', (_, secret) => {
    const message = refusalOf(`${GOOD},${secret}`);

    expect(message).toContain(
      'WEBHOOK_SECRETS (entry 2 of the list): must have at least 8 different characters',
    );
    expect(message).not.toContain(secret);
  });

  it('names every invalid entry at once', () => {
    const message = refusalOf(`short-one,${GOOD},short-two`);
    expect(message).toContain('entry 1 of the list');
    expect(message).not.toContain('entry 2 of the list');
    expect(message).toContain('entry 3 of the list');
  });

  it.each([
    ['one', GOOD, [GOOD]],
    ['several', `${GOOD},${GOOD}-old`, [GOOD, `${GOOD}-old`]],
    ['32 bytes', 'thirty-two-bytes-are-just-enough', ['thirty-two-bytes-are-just-enough']],
    ['32 bytes in fewer letters', '鍵印章暗号署名秘密文é', ['鍵印章暗号署名秘密文é']],
    ['8 different characters', 'abcdefgh'.repeat(4), ['abcdefgh'.repeat(4)]],
  ])('is used unchanged: %s', (_, secrets, expected) => {
    expect(loadConfig({ WEBHOOK_SECRETS: secrets }).webhookSecrets).toEqual(expected);
  });

  describe('of the sandbox', () => {
    const [DATABASE_URL, WEBHOOK_SECRETS] = ['postgres://127.0.0.1/shop', GOOD];
    const SANDBOX_WEBHOOK_SECRET = 'a-secret-of-the-sandbox-0123456789';
    const PAYMENTS_MERCHANT_ID = 'merchant_local';
    const settings = { DATABASE_URL, WEBHOOK_SECRETS, SANDBOX_WEBHOOK_SECRET };

    it('verifies events of the ledger of the sandbox', () => {
      const config = loadConfig({ ...settings, PAYMENTS_MERCHANT_ID });
      expect(webhookSecretsOf(config)).toEqual([GOOD, SANDBOX_WEBHOOK_SECRET]);
    });

    it('verifies no event of another ledger, also in a process that runs the sandbox', () => {
      const config = loadConfig({ ...settings, PAYMENTS_MERCHANT_ID: 'm_1' });
      expect(webhookSecretsOf(config, true)).toEqual([GOOD]);
    });

    it('is never a secret of the payment service', () => {
      const config = loadConfig({ ...settings, PAYMENTS_MERCHANT_ID });
      expect(sandboxSecretOf(config)).toBe(SANDBOX_WEBHOOK_SECRET);
    });
  });

  it('has no default if a database is configured', () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://127.0.0.1/shop' });
    expect(() => webhookSecretsOf(config)).toThrow(/^WEBHOOK_SECRETS is not set/);
  });
});
