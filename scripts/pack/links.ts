/**
 * Links of the pages in a package. Pure. A page lies elsewhere in a package than in the repository, and not every page
 * that it links to is packed: such a link becomes its text.
 */
import { posix as path } from 'node:path';

/** Files and folders of a package, with where each lies in the repository. */
type PackedFiles = Readonly<Record<string, string>>;

/** @param target the page's own path in the package @param source its path in the repository */
export function packLinks(
  text: string,
  { target, source, files }: { target: string; source: string; files: PackedFiles },
): string {
  const convert = (all: string, code?: string, label = '', address = ''): string => {
    const [linked = '', anchor] = address.split('#');
    if (code !== undefined || linked === '' || /^[a-z]+:/.test(address)) return all;
    const place = placeOf(path.join(path.dirname(source), linked), files);
    if (place === undefined) return label.replace(/^!?\[|\]$/g, '');
    const suffix = anchor === undefined ? '' : `#${anchor}`;
    return `${label}(${path.relative(path.dirname(target), place)}${suffix})`;
  };
  return text
    .split(/^( *```[\s\S]*?^ *```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(LINK_OR_CODE, convert)))
    .join('');
}

const LINK_OR_CODE = /(`[^`\n]+`)|(!?\[(?:[^\]`]|`[^`\n]*`)*\])\(([^)\s]+)\)/g;

/** Where a file of the repository lies in the package; undefined if it is not packed. */
function placeOf(source: string, files: PackedFiles): string | undefined {
  const packed = Object.entries(files).find(([, own]) => isWithin(source, own));
  return packed && path.join(packed[0], path.relative(packed[1], source));
}

function isWithin(source: string, own: string): boolean {
  return source === own || source.startsWith(`${own}/`);
}
