/** The command line of scripts/mutate.sh. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { instrument, type Mutant } from './instrument.ts';
import { isKill, type Near } from './results.ts';
import type { Survivor } from './survivor.ts';
import { SURVIVORS } from './survivors.ts';
import { type Imports, readImports } from './testFiles.ts';
import { type Failure, openTests, type Tests } from './tests.ts';

const USAGE = `usage: scripts/mutate.sh [PATH...]
PATH: a folder or file of rules; by default every domain folder in src
`;

/**
 * @returns the exit code: 0 every mutant is killed or listed, 1 one is not, or a listed one is killed, 2 usage, 3 a
 * test fails without a mutant, or does not end: what it would kill is printed as alive
 */
export async function main(args: readonly string[]): Promise<number> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const files = listed(root, ['src', 'test/unit', 'test/client', 'test/support']);
  const rules = files.filter((file) => isRule(file) && isIn(file, args));
  if (rules.length === 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const instrumented = new Map<string, string>();
  const mutants: Mutant[] = [];
  for (const file of rules) {
    const source = readFileSync(path.join(root, file), 'utf8');
    const result = instrument({ file, source }, true, mutants.length);
    instrumented.set(file, result.source);
    mutants.push(...result.mutants);
  }
  const imports = readImports(root, files);
  const tests = await openTests(
    root,
    (file, source) => instrumented.get(file) ?? instrument({ file, source }, false).source,
  );
  try {
    const { killers, failures } = await killAll({ root, tests, imports, mutants, rules });
    const isAsListed = printed(
      mutants,
      killers,
      SURVIVORS.filter(({ file }) => isIn(file, args)),
    );
    for (const text of new Set(failures.map((failure) => failure.text))) {
      print(`FAILS WITHOUT A MUTANT  ${text}`);
    }
    if (failures.length > 0) return 3;
    return isAsListed ? 0 : 1;
  } finally {
    await tests.close();
  }
}

function listed(root: string, folders: readonly string[]): readonly string[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...folders], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => /\.tsx?$/.test(file));
}

function isRule(file: string): boolean {
  return file.startsWith('src/') && file.includes('/domain/');
}

function isIn(file: string, paths: readonly string[]): boolean {
  return (
    paths.length === 0 || paths.some((part) => `${file}/`.startsWith(`${part.replace(/\/$/, '')}/`))
  );
}

interface Run {
  readonly root: string;
  readonly tests: Tests;
  readonly imports: Imports;
  readonly mutants: readonly Mutant[];
  readonly rules: readonly string[];
}

interface Outcome {
  /** The test that kills each mutant, by the mutant's id. */
  readonly killers: ReadonlyMap<number, string>;
  /** Tests that fail without a mutant. */
  readonly failures: readonly Failure[];
}

async function killAll({ root, tests, imports, mutants, rules }: Run): Promise<Outcome> {
  const ordered = orderOf(rules.map(imports.testsOf), (file) =>
    readFileSync(path.join(root, file), 'utf8').includes("'fast-check'"),
  );
  print(`${mutants.length} mutants, ${ordered.length} test files`);
  const startMs = performance.now();
  const { results, failures } = await tests.runAll(ordered, nearOf({ imports, mutants, rules }));
  const killers = new Map<number, string>();
  for (const result of results) {
    if (isKill(result)) killers.set(result.mutant, result.test);
    if (result.kind === 'stalled') {
      print(`ended, since it would not end: ${textOf(mutants[result.mutant])}: ${result.test}`);
    }
    if (result.kind === 'unrepeatable') print(`not repeated: ${result.test}: ${result.why}`);
  }
  print(`${killers.size} killed in ${seconds(startMs)}`);
  const passed = results.filter((result) => result.kind === 'passed');
  const loaded = new Set(passed.flatMap(({ load }) => load));
  // What no test passes cannot be killed; and what a test passes, it has killed or not.
  const left = mutants.filter(({ id }) => !killers.has(id) && loaded.has(id));
  if (left.length > 0) print(`${left.length} mutants of loaded modules run alone`);
  const aloneFailures = left.length === 0 ? [] : await tests.runAlone(ordered, undefined);
  const sound = ordered.filter((file) => aloneFailures.every((failure) => failure.file !== file));
  for (const mutant of left) {
    const testFiles = imports.testsOf(mutant.file).filter((name) => sound.includes(name));
    const [failure] = await tests.runAlone(testFiles, mutant.id);
    if (failure === undefined) continue;
    killers.set(mutant.id, failure.text);
    print(`killed only when run alone: ${textOf(mutant)}: ${failure.text}`);
  }
  print(`${killers.size} killed in ${seconds(startMs)}`);
  return { killers, failures: [...failures, ...aloneFailures] };
}

function textOf(mutant: Mutant | undefined): string {
  return mutant === undefined
    ? 'a mutant'
    : `${mutant.file}:${mutant.line}  ${mutant.code}  ->  ${mutant.becomes}`;
}

/**
 * Test files in the order that kills most mutants soonest: those that import a rule most directly first. Those
 * with properties are last: they run a test hundreds of times, and so run only what is left.
 */
function orderOf(
  testsOfRules: readonly (readonly string[])[],
  hasProperties: (file: string) => boolean,
): readonly string[] {
  const places = new Map<string, number>();
  for (const files of testsOfRules) {
    for (const [at, file] of files.entries()) {
      // A file that replaces modules needs a process of its own.
      if (file.endsWith('.isolated.test.ts')) continue;
      places.set(file, Math.min(at, places.get(file) ?? Number.POSITIVE_INFINITY));
    }
  }
  const place = (file: string) => (hasProperties(file) ? 1e6 : 0) + (places.get(file) ?? 0);
  return [...places.keys()].sort((a, b) => place(a) - place(b));
}

function nearOf({
  imports,
  mutants,
  rules,
}: Pick<Run, 'imports' | 'mutants' | 'rules'>): readonly Near[] {
  const idsOf = (file: string): [number, number] => {
    const ids = mutants.filter((mutant) => mutant.file === file).map(({ id }) => id);
    return [ids[0] ?? 0, (ids.at(-1) ?? -1) + 1];
  };
  return rules.map((file) => {
    const importers = imports.importersOf(file);
    return {
      file,
      tests: importers.filter((name) => name.endsWith('.test.ts')),
      ids: [file, ...importers].map(idsOf),
    };
  });
}

function printed(
  mutants: readonly Mutant[],
  killers: ReadonlyMap<number, string>,
  survivors: readonly Survivor[],
): boolean {
  const alive = mutants.filter(({ id }) => !killers.has(id));
  const isListed = (mutant: Mutant) => survivors.some((survivor) => isOf(mutant, survivor));
  const unlisted = alive.filter((mutant) => !isListed(mutant));
  const stale = survivors.filter(
    (survivor) => alive.filter((mutant) => isOf(mutant, survivor)).length !== (survivor.count ?? 1),
  );
  for (const { file, line, within, code, becomes } of unlisted) {
    print(`SURVIVED  ${file}:${line}  ${within}: ${code}  ->  ${becomes}`);
  }
  for (const { file, within, code, becomes } of stale) {
    print(
      `NOT AS LISTED  ${file}  ${within}: ${code}  ->  ${becomes}: killed, gone or more of them`,
    );
  }
  for (const folder of new Set(mutants.map(({ file }) => path.dirname(file)))) {
    const here = mutants.filter(({ file }) => path.dirname(file) === folder);
    const killed = here.filter(({ id }) => killers.has(id)).length;
    const percent = Math.floor((1000 * killed) / here.length) / 10;
    print(
      `${folder}: ${killed} of ${here.length} killed (${percent} %), ${here.length - killed} survived`,
    );
  }
  return unlisted.length === 0 && stale.length === 0;
}

function isOf(mutant: Mutant, survivor: Survivor): boolean {
  return (['file', 'within', 'code', 'becomes'] as const).every(
    (field) => mutant[field] === survivor[field],
  );
}

function seconds(startMs: number): string {
  return `${Math.round((performance.now() - startMs) / 1000)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
