/** Settings of the database that endanger what Tallyhook promises are logged at startup. */
import { expect, test } from 'vitest';
import { reportDatabaseSettings } from '../../src/assembly/databaseSettings.ts';
import { createDatabase } from '../../src/platform/db/database.ts';
import { createTestDatabase, silentLog } from '../support/database.ts';

test('a process names the settings of its user or database that lose, reject or cancel, and what to run', async () => {
  const own = await createTestDatabase();
  const name = new URL(own.url).pathname.slice(1);
  const lines: { event: string; problem?: string; remedy?: string }[] = [];
  const note = (fields: object, event: string) => void lines.push({ event, ...fields });
  const log = { ...silentLog, error: note, warn: note } as unknown as typeof silentLog;
  const report = async () => {
    lines.length = 0;
    const db = createDatabase({
      connectionString: own.url,
      log: silentLog,
      applicationName: 'test',
      maxConnections: 1,
      responseTimeoutMs: 30_000,
      plans: 'any',
    });
    await reportDatabaseSettings(db, log);
    await db.close();
    return lines;
  };
  const set = (setting: string) => own.query(`alter database ${name} set ${setting}`);
  try {
    await set('synchronous_commit = off');
    await set('default_transaction_isolation = serializable');
    expect(await report()).toMatchObject(
      [
        { event: 'database.settings_unsafe', problem: /synchronous_commit is off/ },
        { event: 'database.settings_unsafe', problem: /is serializable/ },
      ].map(({ event, problem }) => ({ event, problem: expect.stringMatching(problem) })),
    );

    await set('synchronous_commit = on');
    await set(`default_transaction_isolation = 'read committed'`);
    expect(await report()).toEqual([]);

    await set(`statement_timeout = '1s'`);
    const [line] = await report();
    expect(line?.problem).toContain('statement_timeout is 1 s');
    // The remedy is a command that ends it.
    await own.query(line?.remedy?.replace('Run: ', '') ?? '');
    expect(await report()).toEqual([]);
  } finally {
    const [{ user } = { user: '' }] = await own.query<{ user: string }>(
      'select current_user as user',
    );
    await own.query(`alter role "${user}" in database ${name} reset all`);
    await own.drop();
  }
});
