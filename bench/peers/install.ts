/** Installs a peer beside the project, which does not depend on it. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Peer } from './peer.ts';

const INSTALL_TIMEOUT_MS = 300_000;

/** Installs with the npm settings of the user. @returns the folder that modules are resolved from */
export async function installPeer(
  { name, version, besides }: Pick<Peer, 'name' | 'version' | 'besides'>,
  parent: string,
): Promise<string> {
  const folder = join(parent, name.replaceAll(/[^a-z0-9]+/g, '-'));
  mkdirSync(folder);
  await promisify(execFile)(
    'npm',
    [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      `${name}@${version}`,
      ...besides,
    ],
    { timeout: INSTALL_TIMEOUT_MS },
  );
  return folder;
}
