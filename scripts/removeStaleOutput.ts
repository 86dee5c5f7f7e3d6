/**
 * Removes what earlier builds compiled from sources that no longer exist. The compiler leaves these
 * files in dist/, where an import of a moved file would still find the old one. Everything else stays,
 * so that a build does not disturb the tests and processes that run from dist/.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';

const ENDING = /\.(d\.ts|js|js\.map)$/;
/** The bundle in program/ has no sources beside it, and removes its own old files. */
const isCompiled = (file: string) => ENDING.test(file) && !file.startsWith('program/');

const root = packageRoot();
for (const file of readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })) {
  const sources = ['.ts', '.tsx'].map((ending) => join(root, file.replace(ENDING, ending)));
  if (!isCompiled(file) || sources.some((source) => existsSync(source))) continue;
  rmSync(join(root, 'dist', file));
}
