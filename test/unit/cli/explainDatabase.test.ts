/** What a command advises when its database fails. */
import { expect, test } from 'vitest';
import { explainDatabase } from '../../../src/cli/context.ts';
import { loadConfig } from '../../../src/config/config.ts';

test.each([{ DATABASE_URL: 'postgres://db.example/tallyhook' }, {}])(
  'a full disk is named as the cause, and neither the address nor another start as the remedy: %j',
  (settings) => {
    const error = Object.assign(
      new Error('could not extend file "base/16384/18407": No space left on device'),
      { code: '53100' },
    );
    const explain = () => explainDatabase(error, loadConfig(settings));
    expect(explain).toThrow(/disk of the database is full .*No space left on device.*Make room/);
    expect(explain).not.toThrow(/DATABASE_URL|Start again/);
  },
);

test('a read-only server is not reported as unreachable', () => {
  const error = Object.assign(new Error('cannot execute UPDATE in a read-only transaction'), {
    code: '25006',
  });
  const explain = () =>
    explainDatabase(error, loadConfig({ DATABASE_URL: 'postgres://db.example/tallyhook' }));
  expect(explain).toThrow(/accepts no writes \(cannot execute UPDATE.*tallyhook doctor/);
  expect(explain).not.toThrow(/cannot be reached|server is running/);
});
