/**
 * Secrets of a local installation: generated once into the data folder, readable by their owner
 * only. Only the embedded database uses them; a real one must be given its secrets.
 *
 * A secret appears whole or not at all: an empty one would let everybody in, and it is what a file
 * that is made first and written afterwards shows to a second process, or after a kill, or on a full
 * disk.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../platform/errors.ts';
import { MIN_SECRET_BYTES } from './config.ts';

const SECRET_BYTES = 32;

/**
 * Reads the secret called `name`, making it first, with `prefix` before it, if there is none.
 * @throws OperatorError when the file holds none
 */
export function localSecret(dataDir: string, name: string, prefix = ''): string {
  const path = join(dataDir, name);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    makeSecret(path, `${prefix}${randomBytes(SECRET_BYTES).toString('hex')}\n`);
  }
  chmodSync(path, 0o600);
  const secret = readFileSync(path, 'utf8').trim();
  if (Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return secret;
  throw new OperatorError(
    `${path} is empty or damaged, and without the secret in it anybody would be let in. ` +
      'Delete the file and start again: then a new one is made.',
  );
}

function makeSecret(path: string, content: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
    // Not renamed: of two processes that start together, one makes it and the other reads it.
    linkSync(draft, path);
  } catch (error) {
    const isMade = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isMade) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
