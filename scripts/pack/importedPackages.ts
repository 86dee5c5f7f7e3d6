/** Reads which packages compiled code imports. */
import { readFileSync } from 'node:fs';

/** Names of packages, sorted, without Node's own modules. */
export function importedPackages(files: readonly string[]): readonly string[] {
  const specifiers = files.flatMap((file) => specifiersIn(readFileSync(file, 'utf8')));
  const names = specifiers
    .filter((specifier) => !/^(\.|node:)/.test(specifier))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
  return [...new Set(names)].toSorted();
}

/** A static import begins a line and has neither `=` nor `(`, so that a text with the word `from` is none. */
const IMPORTS = [
  /^(?:import|export)\b[^;'"`=(]*?\bfrom ['"]([^'"]+)['"]/gm,
  /^import ['"]([^'"]+)['"]/gm,
  /\b(?:import|require)\(['"]([^'"]+)['"]\)/g,
];

function specifiersIn(text: string): readonly string[] {
  return IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));
}
