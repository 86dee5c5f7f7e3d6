/**
 * JSON with text from outside, for terminals: no character of it moves the cursor, changes colors or turns the
 * direction of a line. Each value stays what it was, because the characters become escapes. Line breaks are kept.
 */
export function printableJson(json: string): string {
  return json.replaceAll(UNPRINTABLE, escapesOf);
}

const UNPRINTABLE = /(?!\n)\p{C}/gu;

function escapesOf(character: string): string {
  return Array.from(
    { length: character.length },
    (_, place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, '0')}`,
  ).join('');
}
