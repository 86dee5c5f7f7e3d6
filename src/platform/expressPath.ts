/** A path of a table, with parameters in braces, in the syntax of Express. */
export function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
