/** Puts together the folder of a package, as it will be installed, and makes a tarball of it. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { bundleProgram } from './bundleProgram.ts';
import { compile, type ModuleFormat } from './compile.ts';
import { importedPackages } from './importedPackages.ts';
import { packLinks } from './links.ts';
import type { LibraryPackage, PackageDefinition, ProgramPackage } from './packages.ts';

const run = promisify(execFile);
const root = packageRoot();

/** The fields of our package.json that the packages share, and the versions of what they use. */
interface RootManifest {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as RootManifest;

/**
 * Writes the files of a package to an empty folder.
 * @throws Error if its code imports a package that its definition does not name, or does not compile
 */
export async function stagePackage(definition: PackageDefinition, stage: string): Promise<void> {
  const written =
    definition.kind === 'library'
      ? await stageLibrary(definition, stage)
      : await stageProgram(definition, stage);
  for (const [target, source] of Object.entries(definition.files)) {
    mkdirSync(dirname(join(stage, target)), { recursive: true });
    cpSync(join(root, source), join(stage, target), { recursive: true });
    for (const page of pagesIn(join(stage, target))) {
      const file = join(stage, target, page);
      const place = { target: join(target, page), source: join(source, page) };
      const text = packLinks(readFileSync(file, 'utf8'), { ...place, files: definition.files });
      writeFileSync(file, text);
    }
  }
  const { name, description } = definition;
  const { version, license, engines } = manifest;
  writeJson(join(stage, 'package.json'), {
    name,
    version,
    description,
    license,
    engines,
    ...written,
  });
}

/** Paths of the pages in a folder; of a page, the empty one. */
function pagesIn(packed: string): readonly string[] {
  if (!statSync(packed).isDirectory()) return packed.endsWith('.md') ? [''] : [];
  const files = readdirSync(packed, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md'));
}

async function stageLibrary(definition: LibraryPackage, stage: string): Promise<object> {
  const { entries, dependencies } = definition;
  const bundled = Object.keys(definition.bundled);
  for (const format of ['esm', 'cjs'] as const) {
    const folder = join(stage, format);
    const sources = Object.values(entries);
    await compile({ sources, outDir: folder, format });
    const imported = importedPackages(codeIn(folder));
    expectImports(definition.name, imported, [...bundled, ...dependencies]);
    expectUses(definition.name, imported, dependencies);
    // Bundlers read `sideEffects` of the nearest manifest.
    const type = format === 'esm' ? 'module' : 'commonjs';
    writeJson(join(folder, 'package.json'), { type, sideEffects: false });
  }
  for (const [name, leftOut] of Object.entries(definition.bundled)) bundle(name, leftOut, stage);
  return {
    type: 'module',
    sideEffects: false,
    main: outputOf(definition, '.', 'cjs', 'js'),
    types: outputOf(definition, '.', 'cjs', 'd.ts'),
    exports: {
      ...Object.fromEntries(
        Object.keys(entries).map((name) => [name, conditions(definition, name)]),
      ),
      ...Object.fromEntries(
        [
          'package.json',
          ...Object.keys(definition.files).filter((file) => file.endsWith('.json')),
        ].map((file) => [`./${file}`, `./${file}`]),
      ),
    },
    files: ['esm', 'cjs', ...Object.keys(definition.files)],
    dependencies: {
      ...Object.fromEntries(bundled.map((name) => [name, installedVersion(name)])),
      ...versionsOf(dependencies),
    },
    bundleDependencies: bundled,
  };
}

/** What `import` and `require` resolve an entry point to. Types come first: the first match is taken. */
function conditions(definition: LibraryPackage, entry: string): object {
  const pair = (format: ModuleFormat) => ({
    types: outputOf(definition, entry, format, 'd.ts'),
    default: outputOf(definition, entry, format, 'js'),
  });
  return { import: pair('esm'), require: pair('cjs') };
}

function outputOf(
  { entries }: LibraryPackage,
  entry: string,
  format: ModuleFormat,
  ending: string,
): string {
  const source = entries[entry] ?? '';
  return `./${format}/${source.replace(/^src\//, '').replace(/\.ts$/, `.${ending}`)}`;
}

async function stageProgram(definition: ProgramPackage, stage: string): Promise<object> {
  const { name, sources, bin, dependencies, optional, files } = definition;
  const imported = importedPackages(await bundleProgram(sources, join(stage, 'dist', 'program')));
  expectImports(name, imported, [...dependencies, ...optional]);
  expectUses(name, imported, dependencies);
  return {
    type: 'module',
    bin,
    exports: { './package.json': './package.json' },
    files: ['dist', ...Object.keys(files)],
    dependencies: Object.fromEntries(dependencies.map((one) => [one, installedVersion(one)])),
    peerDependencies: versionsOf(optional),
    peerDependenciesMeta: Object.fromEntries(optional.map((one) => [one, { optional: true }])),
  };
}

/** Paths of the code and the declarations in a folder. */
function codeIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .map((file) => join(folder, file));
}

function versionsOf(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const version = manifest.dependencies[name];
      if (version === undefined) throw new Error(`${name} is no dependency in package.json`);
      return [name, version];
    }),
  );
}

function expectImports(
  name: string,
  imported: readonly string[],
  allowed: readonly string[],
): void {
  const foreign = imported.filter((one) => !allowed.includes(one));
  if (foreign.length > 0) {
    throw new Error(
      `${name} imports ${foreign.join(', ')}, which its definition in scripts/pack/packages.ts does not name`,
    );
  }
}

function expectUses(
  name: string,
  imported: readonly string[],
  dependencies: readonly string[],
): void {
  const unused = dependencies.filter((dependency) => !imported.includes(dependency));
  if (unused.length > 0) throw new Error(`${name} does not import ${unused.join(', ')}`);
}

/** Copies a package as it is installed here, without some of its folders. */
function bundle(name: string, leftOut: readonly string[], stage: string): void {
  const target = join(stage, 'node_modules', name);
  cpSync(join(root, 'node_modules', name), target, { recursive: true });
  for (const folder of leftOut) rmSync(join(target, folder), { recursive: true });
}

function installedVersion(name: string): string {
  const text = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

export interface Tarball {
  readonly file: string;
  readonly files: number;
  readonly packedBytes: number;
  readonly unpackedBytes: number;
}

/** Packs a staged package into a folder. */
export async function writeTarball(stage: string, folder: string): Promise<Tarball> {
  const { stdout } = await run('npm', [
    'pack',
    stage,
    '--json',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  ]);
  const report = JSON.parse(stdout) as unknown;
  // npm 11 prints an array; later versions print an object by name.
  const [packed] = Object.values(report as Record<string, PackReport>);
  if (packed === undefined) throw new Error(`npm pack reported nothing: ${stdout}`);
  const file = join(folder, packed.filename);
  return {
    file,
    files: packed.entryCount,
    packedBytes: statSync(file).size,
    unpackedBytes: packed.unpackedSize,
  };
}

interface PackReport {
  readonly filename: string;
  readonly entryCount: number;
  readonly unpackedSize: number;
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
