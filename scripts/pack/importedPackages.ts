/** Reads which packages compiled code imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of packages, sorted, without Node's own modules. Reads code and declarations. */
export function importedPackages(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const specifiers = files
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .flatMap((file) => specifiersIn(readFileSync(join(folder, file), 'utf8')));
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
