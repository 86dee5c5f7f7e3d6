/** Types as Markdown, with a link for each public name. */

/** @throws Error when a name is neither public nor known to everybody */
export type TypeWriter = (type: string) => string;

/** Of the language and its runtime. */
const KNOWN = new Set(['AbortSignal', 'AsyncIterable', 'Omit', 'Partial', 'Promise', 'T']);

/** @param publicNames what a reader can look up in the same document */
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
