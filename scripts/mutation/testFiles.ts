/** Which unit tests can see a module, by the imports between files. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Imports {
  /**
   * Test files that import a module, directly or through two others: most directly first. A test of a whole
   * command loads nearly every module, and is not a test of its rules.
   */
  testsOf(file: string): readonly string[];
  importersOf(file: string): readonly string[];
}

const MOST_STEPS = 3;

/** @param files sources and tests, from the root */
export function readImports(root: string, files: readonly string[]): Imports {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, name = ''] of source.matchAll(/(?:from|import|import\() ?'(\.[^']+)'/g)) {
      const imported = path.join(path.dirname(file), name);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return {
    importersOf: (file) => importers.get(file) ?? [],
    testsOf: (file) => {
      const seen = new Set([file]);
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        // A copy, because files that are added now are of the next step.
        for (const next of Array.from(seen)) importers.get(next)?.forEach(seen.add, seen);
      }
      return [...seen].filter((name) => name.endsWith('.test.ts'));
    },
  };
}
