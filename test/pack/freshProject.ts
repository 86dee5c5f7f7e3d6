/** Projects outside the checkout that install packed packages, as a shop would. */
import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PackageDefinition } from '../../scripts/pack/packages.ts';
import { stagePackage, writeTarball } from '../../scripts/pack/stagePackage.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';

export const run = promisify(execFile);
const root = packageRoot();

/** Compiling and packing takes seconds, and minutes on a machine that does ten other things. */
export const SLOWEST_INSTALL_MS = 15 * 60_000;

export interface FreshProject {
  readonly folder: string;
  /** Writes a file, and the folders above it. */
  write(file: string, content: string | object): void;
  remove(): void;
}

/** Packs a package and installs its tarball without a registry. */
export async function installPacked(definition: PackageDefinition): Promise<FreshProject> {
  const project = createProject();
  const { folder } = project;
  const stage = join(folder, 'stage');
  mkdirSync(stage);
  await stagePackage(definition, stage);
  const { file } = await writeTarball(stage, folder);
  rmSync(stage, { recursive: true });
  project.write('package.json', { name: 'shop', version: '1.0.0', private: true });
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', file], { cwd: folder });
  return project;
}

/** Puts packages where an installation would, with the checkout's copies of what they need. */
export async function stageInProject(
  ...definitions: readonly PackageDefinition[]
): Promise<FreshProject> {
  const project = createProject();
  for (const definition of definitions) {
    const installed = join(project.folder, 'node_modules', definition.name);
    mkdirSync(installed, { recursive: true });
    await stagePackage(definition, installed);
    for (const name of definition.dependencies) linkPackage(project, name);
  }
  return project;
}

/** Makes a package of the checkout visible in a project. */
export function linkPackage({ folder }: FreshProject, name: string): void {
  const target = join(folder, 'node_modules', name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), target);
}

function createProject(): FreshProject {
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-shop-'));
  return {
    folder,
    write: (file, content) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      writeFileSync(join(folder, file), text);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Runs the compiler of this checkout. Returns its messages; empty if there are none. */
export async function compileIn(folder: string): Promise<string> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const compiled = await run(compiler, ['--singleThreaded', '-p', folder]).catch(
    (error: { readonly stdout: string }) => error,
  );
  return compiled.stdout;
}

/** Where the types of Node.js are. */
export const TYPE_ROOTS = [join(root, 'node_modules', '@types')];

/** The sum of the sizes of all files below a folder. */
export function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
