/** A place in a file, as an editor counts: both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Why a file cannot be read, and where. Nothing of the file is imported. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';

  constructor({ line, column }: Place, message: string) {
    super(`line ${line}, column ${column}: ${message}`);
  }
}

/** A value from a file as it is quoted in a problem. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Whether a text has characters that no text has: the file has another encoding, or is not text. */
export function hasControl(text: string): boolean {
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code === 0x7f || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d))
      return true;
  }
  return false;
}
