import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/packageRoot.ts';

/** The code of a shop. Node resolves a package's own name by its `exports`, like that of any other package. */
const SHOP = `
  import { createClient, declineAdvice } from 'tallyhook/client';
  const client = createClient({ baseUrl: 'https://pay.example', apiKey: 'snd_1' });
  console.log(Object.keys(client).join(), declineAdvice('UE_1001').retry);
  await import('tallyhook/dist/src/assembly.js').catch(({ code }) => console.log(code));
`;

test('a shop can import tallyhook/client, and nothing else of the package', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', SHOP],
    { cwd: packageRoot() },
  );
  expect(stdout.trim().split('\n')).toEqual([
    'payments,customers,refunds,disputes,payouts,paymentLinks,analytics,businessProfiles,health never',
    'ERR_PACKAGE_PATH_NOT_EXPORTED',
  ]);
});
