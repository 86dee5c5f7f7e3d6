/**
 * Packages that an installation adds only if it uses what needs them. A checkout has all of them; the
 * published package names them as optional peer dependencies.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, toError } from './errors.ts';
import { packageRoot } from './packageRoot.ts';

interface Requirements {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The command that installs a package in the version that Tallyhook was tested with. */
export function installCommand(name: string): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  const { dependencies, peerDependencies } = JSON.parse(text) as Requirements;
  const version = peerDependencies?.[name] ?? dependencies[name] ?? 'latest';
  return `npm install ${name}@${version}`;
}

/** Whether an import failed because this package is not installed. */
export function isNotInstalled(error: unknown, name: string): boolean {
  const code = errorCode(error);
  const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return isMissing && toError(error).message.includes(`'${name}'`);
}
