/** Bundles the program into dist/program/ as the last step of a build, unless nothing of it has changed. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { bundleProgram } from './pack/bundleProgram.ts';
import { SERVER_PACKAGE } from './pack/packages.ts';

const dist = join(packageRoot(), 'dist');
const folder = join(dist, 'program');

/** When the newest of the files that become the bundle was written, in milliseconds since 1970. */
function newestInputMs(): number {
  const files = ['src', 'workers', 'scripts'].flatMap((name) =>
    readdirSync(join(dist, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => join(dist, name, file)),
  );
  // npm writes this file when it installs packages.
  const installed = join(packageRoot(), 'node_modules', '.package-lock.json');
  return Math.max(
    ...[...files, installed].filter(existsSync).map((file) => statSync(file).mtimeMs),
  );
}

const main = join(folder, 'main.js');
if (!existsSync(main) || statSync(main).mtimeMs < newestInputMs()) {
  await bundleProgram(SERVER_PACKAGE.sources, folder);
}
