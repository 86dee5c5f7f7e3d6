/**
 * A body as parts that can be folded.
 *
 * 1. The text is never parsed into values: a number beyond 2^53 would be rounded, and a repeated key lost.
 * 2. A body that is not JSON is one part with its text. So is one beyond MAX_LENGTH or MAX_DEPTH.
 */

export type JsonPart =
  | { readonly kind: 'text'; readonly place: number; readonly text: string }
  | {
      readonly kind: 'group';
      readonly place: number;
      /** What begins it: a key and a bracket. */
      readonly summary: string;
      readonly parts: readonly JsonPart[];
    };

const MAX_LENGTH = 200_000;
const MAX_DEPTH = 20;

export function foldedJson(text: string): JsonPart {
  const whole = { kind: 'text', place: 0, text } as const;
  if (text.length > MAX_LENGTH || !isJson(text)) return whole;
  const tokens = [...text.matchAll(TOKENS)].map(([token]) => token);
  return readParts(tokens) ?? whole;
}

/** Strings, brackets, separators, and everything else up to the next of them. White space is skipped. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Group {
  readonly place: number;
  readonly summary: string;
  readonly parts: JsonPart[];
}

/** @returns undefined beyond MAX_DEPTH */
function readParts(tokens: readonly string[]): JsonPart | undefined {
  const root: Group = { place: 0, summary: '', parts: [] };
  const open: Group[] = [root];
  let line = '';
  for (const [place, token] of tokens.entries()) {
    const group = open.at(-1) ?? root;
    const endLine = () => {
      if (line !== '') group.parts.push({ kind: 'text', place, text: line });
      line = '';
    };
    switch (token) {
      case '{':
      case '[':
        if (open.length > MAX_DEPTH) return undefined;
        open.push({ place, summary: `${line}${token}`, parts: [] });
        line = '';
        break;
      case '}':
      case ']':
        endLine();
        open.pop();
        open
          .at(-1)
          ?.parts.push({ ...group, kind: 'group', summary: `${group.summary} … ${token}` });
        break;
      case ',':
        endLine();
        break;
      case ':':
        line += ': ';
        break;
      default:
        line += token;
    }
  }
  return root.parts[0] ?? { kind: 'text', place: 0, text: line };
}
