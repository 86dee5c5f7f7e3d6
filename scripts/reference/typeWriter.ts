/** Types as Markdown, with a link for each public name. */

/** @throws Error when a name is neither public nor part of the language */
export type TypeWriter = (type: string) => string;

/** Types of the language and its runtime. */
const KNOWN = new Set([
  'AbortSignal',
  'AsyncIterable',
  'Omit',
  'Partial',
  'Promise',
  'Record',
  'T',
  'Uint8Array',
]);

/** @param publicNames names that the same document describes */
export function createTypeWriter(publicNames: ReadonlySet<string>): TypeWriter {
  return (type) =>
    type
      .replaceAll(/'[^']*'/g, (word) => `\`${word.slice(1, -1)}\``)
      .replaceAll(/[<>]/g, '\\$&')
      .replaceAll('=\\>', '=>')
      .replaceAll(/`[^`]*`|\b[A-Z]\w*\b/g, (word) => {
        if (publicNames.has(word)) return `[${word}](#${word.toLowerCase()})`;
        if (word.startsWith('`') || KNOWN.has(word)) return word;
        throw new Error(`${word} is in a public signature and is not exported`);
      });
}
