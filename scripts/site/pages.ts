/** From files of the repository to pages of the site. Pure. */
import { posix as path } from 'node:path';

/** The start page of a folder has another name on the site. */
export const pageOf = (file: string): string => file.replace(/(^|\/)README\.md$/, '$1index.md');

/** Where the site serves a file of the repository that is no page. As text: a browser shows it. */
export const servedAs = (file: string): string =>
  /\.(?:json|ya?ml|png)$/.test(file) ? `/files/${file}` : `/files/${file}.txt`;

export interface Target {
  readonly kind: 'page' | 'file' | 'folder';
  /** Its path in the repository. */
  readonly path: string;
}

export type FindTarget = (path: string) => Target | undefined;

export interface ConvertedPage {
  readonly text: string;
  /** Files and folders of the repository to which the page links. */
  readonly linked: readonly Target[];
}

/**
 * A page as the site has it: links to other files lead to copies of them, and what only tests read is left out:
 * attributes of blocks, and comments.
 */
export function convertPage(file: string, text: string, find: FindTarget): ConvertedPage {
  const linked: Target[] = [];
  const convertLink = (all: string, label: string, address: string): string => {
    const [target = '', anchor] = address.split('#');
    if (target === '' || /^[a-z]+:/.test(address) || label.startsWith('!')) return all;
    const found = find(path.join(path.dirname(file), target));
    if (found === undefined) return all; // VitePress reports it
    if (found.kind !== 'page') linked.push(found);
    const suffix = anchor === undefined ? '' : `#${anchor}`;
    return `${label}(${addressOf(found, file)}${suffix})`;
  };
  const converted = mapProse(visibleOf(text), (prose) =>
    prose.replaceAll(/(!?\[[^\]]*\])\(([^)\s]+)\)/g, convertLink),
  );
  return { text: converted, linked };
}

/** Without comments, and with pictures that the bundler finds. */
function visibleOf(text: string): string {
  return text
    .replaceAll(/^ *<!-- [\s\S]*?-->\n\n?/gm, '')
    .replaceAll(/\b(src|srcset)="(?=\w+\/)/g, '$1="./');
}

function addressOf({ kind, path: target }: Target, from: string): string {
  if (kind === 'file') return servedAs(target);
  const page = kind === 'page' ? pageOf(target) : `${target}/index.md`;
  const relative = path.relative(path.dirname(from), page);
  return relative.startsWith('.') ? relative : `./${relative}`;
}

/** Languages that the highlighter has under another name, or not at all. */
const HIGHLIGHTED: Readonly<Record<string, string>> = { env: 'ini', redis: 'text', '': 'text' };

/** Applies a function to everything but blocks and inline code. */
function mapProse(text: string, map: (prose: string) => string): string {
  let isCode = false;
  return text
    .split('\n')
    .map((line) => {
      const [, indent = '', language] = /^( *)```(\w*)/.exec(line) ?? [];
      if (language !== undefined) {
        isCode = !isCode;
        return isCode ? `${indent}\`\`\`${HIGHLIGHTED[language] ?? language}` : line;
      }
      return isCode ? line : map(line);
    })
    .join('\n');
}

export interface SidebarGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The navigation: each heading of docs/README.md with the first link of each entry of its list. */
export function sidebarOf(overview: string): readonly SidebarGroup[] {
  return overview
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text = ''] = section.split('\n');
      const items = [...section.matchAll(/^- \[([^\]]+)\]\(([^)#\s]+\.md)\)/gm)].map(
        ([, label = '', target = '']) => ({
          text: label,
          link: `/${pageOf(path.join('docs', target)).replace(/(?:index)?\.md$/, '')}`,
        }),
      );
      return { text, collapsed: false, items };
    })
    .filter(({ items }) => items.length > 0);
}
