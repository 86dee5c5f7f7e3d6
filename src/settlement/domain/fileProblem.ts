/** A place in a file, as an editor counts: both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Why a file cannot be read, and where. Nothing of the file is imported. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(`line ${place.line}, column ${place.column}: ${message}`);
    this.place = place;
  }
}

/** A value from a file as it is quoted in a problem. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** Whether a text has characters that no text has: the file has another encoding, or is not text. */
export function hasControl(text: string): boolean {
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (code === 0x7f || (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d))
      return true;
  }
  return false;
}
