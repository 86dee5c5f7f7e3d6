/**
 * Secrets of a local installation: generated once in the data folder, readable only by their owner.
 * Only installations with the embedded database use them; with DATABASE_URL, secrets must be set.
 *
 * A secret is written atomically. A file that is created first and written later is empty for a
 * second process, after a kill, or on a full disk, and an empty secret would admit every request.
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
import { explainDataFolder } from '../platform/dataFolder.ts';
import { errorCode, explainFullDisk, OperatorError } from '../platform/errors.ts';
import { secretWeakness } from './secretStrength.ts';

const SECRET_BYTES = 32;

/**
 * Reads the secret `name`. If there is none, generates it, with `prefix` before it.
 * @throws OperatorError when the file contains no secret, or this user has no access to the folder
 */
export function localSecret(dataDir: string, name: string, prefix = ''): string {
  const path = join(dataDir, name);
  const secret = readOrGenerate(dataDir, path, prefix);
  if (secretWeakness(secret) === undefined) return secret;
  throw new OperatorError(
    `${path} is empty or damaged, and without its secret every request would be admitted. ` +
      'Delete the file and start again, which generates a new secret.',
  );
}

function readOrGenerate(dataDir: string, path: string, prefix: string): string {
  try {
    if (!existsSync(path)) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      writeSecret(path, `${prefix}${randomBytes(SECRET_BYTES).toString('hex')}\n`);
    }
    chmodSync(path, 0o600);
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    // As after a first start by root.
    explainDataFolder(error, dataDir);
  }
}

function writeSecret(path: string, content: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, content, { mode: 0o600, flag: 'wx', flush: true });
    // Linked, not renamed: of two processes that start together, one creates it and the other reads it.
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') explainFullDisk(error);
  } finally {
    rmSync(draft, { force: true });
  }
}
