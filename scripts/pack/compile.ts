/**
 * Compiles sources, with all that they import and nothing else, for a library.
 *
 * TypeScript itself writes both module formats, so no bundler is involved: a stack trace names the same
 * file and function as in the sources, and a shop's own bundler drops the modules that it does not use.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/platform/packageRoot.ts';

const run = promisify(execFile);
const root = packageRoot();

export type ModuleFormat = 'esm' | 'cjs';

export interface Compilation {
  /** Below `src/`, from the root of the project. */
  readonly sources: readonly string[];
  /** Mirrors `src/`. */
  readonly outDir: string;
  readonly format: ModuleFormat;
}

const FORMATS = {
  esm: { module: 'nodenext', moduleResolution: 'nodenext' },
  // `verbatimModuleSyntax` would refuse `import` in a file that becomes CommonJS.
  cjs: { module: 'commonjs', moduleResolution: 'bundler', verbatimModuleSyntax: false },
} as const;

/** @throws Error with the compiler's messages */
export async function compile(compilation: Compilation): Promise<void> {
  const { sources, outDir, format } = compilation;
  const folder = mkdtempSync(join(tmpdir(), 'tallyhook-compile-'));
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...FORMATS[format],
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rootDir: join(root, 'src'),
      outDir,
      typeRoots: [join(root, 'node_modules', '@types')],
    },
    files: sources.map((source) => join(root, source)),
    include: [],
  };
  try {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
    const compiler = join(root, 'node_modules', '.bin', 'tsc');
    // Several threads need twice the processor time, and are no faster where two processors do other things, too.
    await run(compiler, ['--singleThreaded', '-p', folder]).catch(
      (error: { readonly stdout?: string }) => {
        throw new Error(`The package does not compile: ${error.stdout ?? ''}`, { cause: error });
      },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
  correctDeclarations(outDir);
}

/** The compiler changes `./file.ts` to `./file.js` in code, but not in declarations. */
function correctDeclarations(folder: string): void {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(/((?:from |import\()['"]\.[^'"]*)\.tsx?(['"])/g, '$1.js$2'),
    );
  }
}
