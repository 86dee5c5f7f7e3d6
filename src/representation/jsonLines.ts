/**
 * A body as lines for people. The text is broken and indented as it is: no value is parsed, so large
 * numbers, repeated fields and unusual spellings are shown as they were received.
 */
const STRUCTURE = /"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/g;

export function jsonLines(text: string): readonly string[] {
  if (!/^\s*[{[]/.test(text)) return text.split(/\r?\n/);
  const lines: string[] = [];
  let line = '';
  let depth = 0;
  const end = () => {
    if (line.trim() !== '') lines.push(line);
    line = '  '.repeat(Math.max(0, depth));
  };
  for (const [token] of text.matchAll(STRUCTURE)) {
    if (token === '{' || token === '[') {
      line += token;
      depth += 1;
      end();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      end();
      line += token;
    } else if (token === ',') {
      line += token;
      end();
    } else {
      line += token === ':' ? ': ' : token;
    }
  }
  end();
  return lines;
}
