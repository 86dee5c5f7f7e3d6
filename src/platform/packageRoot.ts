import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of package.json. Sources and compiled files are at different depths below it, so a
 * relative path would be correct for only one of them.
 */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json was not found above the running code');
    folder = parent;
  }
  return folder;
}

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version?: unknown };
  return String(version);
}
