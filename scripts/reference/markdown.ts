/** Writes Markdown tables and reads docstrings. */

/** A table. A bar in a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** The text of a docstring before its tags. Wrapped lines are joined; lists stay lists. */
export function prose(docstring: string): string {
  return (docstring.split(/^@/m)[0] ?? '')
    .replaceAll(/\n(?!\n|- |\d+\. )/g, ' ')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** The text after each occurrence of a tag in a docstring. */
export function tagged(docstring: string, tag: string): readonly string[] {
  return docstring
    .split(/^@/m)
    .filter((part) => part.startsWith(`${tag} `))
    .map((part) => part.slice(tag.length).replaceAll(/\s+/g, ' ').trim());
}
