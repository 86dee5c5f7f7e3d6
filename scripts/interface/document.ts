/** Reads docs/service-interface.md and fills in the tables between its markers. */
import { TABLES } from './tables.ts';

/** One section of the document. */
export interface Section {
  /** For example `4.3.1`. */
  readonly number: string;
  readonly title: string;
  /** The text up to the next heading. */
  readonly text: string;
}

const HEADING = /^#{2,4} (\d+(?:\.\d+)*) (.+)$/;

/** The sections in their order. */
export function readSections(markdown: string): readonly Section[] {
  return markdown
    .split(/^(?=#{2,4} \d)/m)
    .slice(1)
    .map((part) => {
      const [head = '', ...lines] = part.split('\n');
      const [, number = '', title = ''] = HEADING.exec(head) ?? [];
      return { number, title, text: lines.join('\n') };
    });
}

const TABLE = /<!-- table (\S+) -->\n[\s\S]*?<!-- \/table -->/g;

/**
 * The document with every generated table up to date.
 * @throws Error when a marker names no table, or a table has no marker
 */
export function fillTables(markdown: string): string {
  const unused = new Set(Object.keys(TABLES));
  const filled = markdown.replaceAll(TABLE, (_whole, name: string) => {
    const write = TABLES[name];
    if (write === undefined) throw new Error(`service-interface.md names no table: ${name}`);
    unused.delete(name);
    return `<!-- table ${name} -->\n\n${write()}\n\n<!-- /table -->`;
  });
  if (unused.size > 0) throw new Error(`not in service-interface.md: ${[...unused].join(', ')}`);
  return filled;
}
