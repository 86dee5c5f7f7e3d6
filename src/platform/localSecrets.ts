/**
 * Secrets of a local installation: generated once into the data folder, readable by their owner
 * only. Only the embedded database uses them; a real one must be given its secrets.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SECRET_BYTES = 32;

/** Reads the secret called `name`, making it first, with `prefix` before it, if there is none. */
export function localSecret(dataDir: string, name: string, prefix = ''): string {
  const path = join(dataDir, name);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    try {
      // `wx`: of two processes that start together, one makes it and the other reads it.
      writeFileSync(path, `${prefix}${randomBytes(SECRET_BYTES).toString('hex')}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  chmodSync(path, 0o600);
  return readFileSync(path, 'utf8').trim();
}
