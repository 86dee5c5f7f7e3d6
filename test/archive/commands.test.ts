/** Retention and the commands of the archive, with the settings of an operator. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runTallyhook } from '../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Environment, settingsFor } from '../support/program.ts';
import { S3_KEYS, S3_REGION, startS3Server } from '../support/s3Server.ts';

let db: TestDatabase;
let folder: string;
beforeEach(async () => {
  db = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'tallyhook archive-'));
  await db.query(
    `insert into messages (id, channel, kind, content, state, next_attempt_at, created_at, settled_at)
     select 'msg_' || n, 'log', 'alert', '{}', 'delivered', now(), now(), now() - interval '31 days'
       from generate_series(1, 30) as n`,
  );
});
afterEach(async () => {
  await db.drop();
  rmSync(folder, { recursive: true });
});

async function runJson(env: Environment, ...args: readonly string[]) {
  const { stdout, stderr, code } = await runTallyhook([...args, '--json'], { env });
  return { code, stderr, json: JSON.parse(stdout === '' ? 'null' : stdout) };
}

test('a folder: what was removed is listed, checked and read back', async () => {
  const env = settingsFor(db.url, { ARCHIVE_URL: pathToFileURL(folder).href });
  await runJson(env, 'retention', 'run');
  expect(await db.query('select number from messages')).toEqual([]);
  const { json: list } = await runJson(env, 'archive', 'list');
  expect(list.classes).toMatchObject([{ class: 'messages', batches: 1, rows: 30, removed: 30 }]);
  const { json: batches } = await runJson(env, 'archive', 'list', '--class', 'messages');
  expect(batches.batches).toMatchObject([{ class: 'messages', rows: 30, files: 1 }]);
  expect(await runJson(env, 'archive', 'verify')).toMatchObject({
    code: 0,
    json: { batches: 1, rows: 30, not_removed: 0, problems: 0, incomplete_parts: 0 },
  });
  const unnamed = `messages/${'00'.repeat(32)}.jsonl.gz`;
  writeFileSync(join(folder, unnamed), 'a part of a batch that was interrupted');
  expect(await runJson(env, 'archive', 'verify')).toMatchObject({
    code: 0,
    json: { problems: 0, incomplete_parts: 1, incomplete_examples: [unnamed] },
  });

  const args = ['import', 'messages', '--first', '3', '--last', '7', '--reason', 'a question'];
  expect(await runJson(env, 'archive', ...args)).toMatchObject({
    code: 0,
    json: { read: 5, stored: 5 },
  });
  expect(await db.query(`select row->>'id' as id from imported_rows order by key`)).toEqual(
    [3, 4, 5, 6, 7].map((n) => ({ id: `msg_${n}` })),
  );
  const cleared = await runTallyhook(['archive', 'clear'], { env });
  expect(cleared.stdout).toBe('5 imported rows were deleted.\n');

  const [part = ''] = readdirSync(join(folder, 'messages'))
    .filter((name) => name.endsWith('.gz'))
    .filter((name) => name !== basename(unnamed));
  rmSync(join(folder, 'messages', part));
  const damaged = await runTallyhook(['archive', 'verify'], { env });
  expect(damaged).toMatchObject({ code: 6, stdout: expect.stringContaining('is missing') });
  // The other parts may be those of the batch that is damaged.
  expect(damaged.stdout).not.toContain('belong to no batch');
  const refused = await runTallyhook(['archive', ...args], { env });
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('is damaged') });
});

test('doctor notices a place that lacks what was archived last', async () => {
  const checkOf = async (url: string) => {
    const { json } = await runJson(settingsFor(db.url, { ARCHIVE_URL: url }), 'doctor');
    return json.checks.find(({ name }: { name: string }) => name === 'archive');
  };
  const url = pathToFileURL(folder).href;
  await runJson(settingsFor(db.url, { ARCHIVE_URL: url }), 'retention', 'run');
  expect(await checkOf(url)).toMatchObject({ state: 'ok' });
  const other = await checkOf(pathToFileURL(join(folder, 'not mounted')).href);
  expect(other).toMatchObject({
    state: 'failed',
    result: expect.stringMatching(/it lacks messages\/.+, which was archived last/),
    remedy: expect.stringContaining('is mounted'),
  });
});

test('an S3-compatible store: retention writes to it, and verify reads it', async () => {
  const s3 = await startS3Server('archive');
  try {
    const env = settingsFor(db.url, {
      ARCHIVE_URL: 's3://archive/shop/main',
      ARCHIVE_S3_ENDPOINT: s3.endpoint,
      ARCHIVE_S3_REGION: S3_REGION,
      ARCHIVE_S3_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
      ARCHIVE_S3_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    });
    await runJson(env, 'retention', 'run');
    expect(await db.query('select number from messages')).toEqual([]);
    expect([...s3.objects.keys()].every((key) => key.startsWith('archive/shop/main/'))).toBe(true);
    expect(await runJson(env, 'archive', 'verify')).toMatchObject({
      code: 0,
      json: { batches: 1, rows: 30, problems: 0 },
    });
  } finally {
    await s3.close();
  }
});

test('without an archive, commands that read it refuse, and retention removes', async () => {
  const env = settingsFor(db.url);
  const verified = await runTallyhook(['archive', 'verify'], { env });
  expect(verified).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('ARCHIVE_URL is not set'),
  });
  await runJson(env, 'retention', 'run');
  expect(await db.query('select number from messages')).toEqual([]);
  expect((await runJson(env, 'archive', 'list')).json).toEqual({ classes: [] });
});

test('doctor reports an archive that cannot be used, and no archive if there is none', async () => {
  const archiveCheck = async (env: Environment) => {
    const { json } = await runJson(settingsFor(db.url, env), 'doctor');
    const checks: { readonly name: string; readonly state: string }[] = json.checks;
    return checks.find(({ name }) => name === 'archive')?.state;
  };
  const missing = pathToFileURL(join(folder, 'not', 'yet')).href;
  expect(await archiveCheck({ ARCHIVE_URL: missing })).toBe('ok');
  writeFileSync(join(folder, 'file'), '');
  const occupied = pathToFileURL(join(folder, 'file', 'below')).href;
  expect(await archiveCheck({ ARCHIVE_URL: occupied })).toBe('failed');
  expect(await archiveCheck({})).toBeUndefined();
});
