/** What to do where this process cannot use the data folder of a local installation. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { errorCode, OperatorError, toError } from './errors.ts';

/** The codes of missing rights, of a read-only disk, and of a file in place of the folder. */
const ACCESS_CODES = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** @throws OperatorError for missing access to the folder; everything else as it is */
export function explainDataFolder(thrown: unknown, dataDir: string): never {
  if (!ACCESS_CODES.has(errorCode(thrown))) throw thrown;
  throw new OperatorError(noAccessTo(dataDir, thrown), { cause: thrown });
}

/** The message of an error that `cause` is the reason of. */
export function noAccessTo(dataDir: string, cause: unknown): string {
  const folder = path.resolve(dataDir);
  const owner = ownerOf(folder);
  if (owner === undefined) {
    return (
      `The data folder ${folder} cannot be created (${toError(cause).message}). Start Tallyhook in a ` +
      'folder that this user may write to, or set DATA_DIR to one.'
    );
  }
  const user = process.geteuid?.();
  if (owner === user) {
    return (
      `Something in the data folder ${folder} cannot be used (${toError(cause).message}), although the folder belongs ` +
      `to this user. If another user created it, such as root, run: sudo chown -R ${user} ${folder}`
    );
  }
  return (
    `The data folder ${folder} belongs to uid ${owner}, and this process (uid ${user}) has no access to it ` +
    `(${toError(cause).message}). Start Tallyhook as the user that created it, or choose another DATA_DIR.`
  );
}

/** undefined for what is no folder, or cannot be seen. */
function ownerOf(folder: string): number | undefined {
  try {
    const found = statSync(folder);
    return found.isDirectory() ? found.uid : undefined;
  } catch {
    return undefined;
  }
}
