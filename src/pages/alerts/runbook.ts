/** The runbook's entry for each rule, read once from docs/runbook.md, which the package contains. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../platform/packageRoot.ts';

/** One line of an entry: what it means, what to do first, when to stop. */
export interface RunbookLine {
  readonly label: string;
  readonly text: string;
}

let entries: ReadonlyMap<string, readonly RunbookLine[]> | undefined;

/** @returns nothing for a rule without an entry */
export function runbookOf(rule: string): readonly RunbookLine[] {
  entries ??= parse(readFileSync(path.join(packageRoot(), 'docs', 'runbook.md'), 'utf8'));
  return entries.get(rule) ?? [];
}

function parse(markdown: string): ReadonlyMap<string, readonly RunbookLine[]> {
  const sections = markdown.split(/^### /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [name = '', ...lines] = section.split('\n');
      return [name.trim(), lines.flatMap(parseLine)] as const;
    }),
  );
}

/** Links lead to other documents, which the console does not serve: their text remains. */
function parseLine(line: string): readonly RunbookLine[] {
  const [, label = '', text = ''] = /^- \*\*([^*]+):\*\* (.+)$/.exec(line) ?? [];
  return label === '' ? [] : [{ label, text: text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1') }];
}
