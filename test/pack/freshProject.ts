/** Projects outside the checkout that install packed packages, as a shop would. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { PackageDefinition } from '../../scripts/pack/packages.ts';
import { stagePackage, writeTarball } from '../../scripts/pack/stagePackage.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { waitFor } from '../support/waitFor.ts';

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

/** A package as `stagePackage` writes it: compiled by the first test file that needs it, for all others of the run. */
export async function stagedPackage(definition: PackageDefinition): Promise<string> {
  const stage = join(inject('runFolder'), definition.name.replace('/', '-'));
  const claim = `${stage}.claim`;
  while (!existsSync(stage)) {
    if (isMade(claim)) {
      try {
        await stagePackage(definition, claim);
        renameSync(claim, stage);
      } finally {
        rmSync(claim, { recursive: true, force: true });
      }
    } else {
      const isOver = () => existsSync(stage) || !existsSync(claim);
      await waitFor(`another file to compile ${definition.name}`, isOver, SLOWEST_INSTALL_MS);
    }
  }
  return stage;
}

/** Whether this call made the folder, and no other. */
function isMade(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Packs a package and installs its tarball without a registry. */
export async function installPacked(definition: PackageDefinition): Promise<FreshProject> {
  const project = createProject();
  const { folder } = project;
  const { file } = await writeTarball(await stagedPackage(definition), folder);
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
    cpSync(await stagedPackage(definition), installed, { recursive: true });
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

/** Relative links of the pages in a package that lead to no file of it. */
export function brokenLinks(folder: string): readonly string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !file.includes('node_modules'),
  );
  return pages.flatMap((page) => {
    const prose = readFileSync(join(folder, page), 'utf8').replaceAll(
      /^ *```[\s\S]*?^ *```$|`[^`\n]*`/gm,
      '',
    );
    return [...prose.matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g)].flatMap(([, target = '']) =>
      existsSync(join(folder, dirname(page), target)) ? [] : [`${page}: ${target}`],
    );
  });
}
