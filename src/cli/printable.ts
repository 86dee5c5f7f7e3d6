/** Text from outside must not move the cursor of a terminal, change its colors, or turn the direction of a line. */
const UNPRINTABLE = /\p{C}/gu;

/** The text in one line. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, '\uFFFD');
}

/** The same for text of several lines; line breaks are kept. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => printable(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** The same for JSON, with the value that it had: the characters become escapes. */
export function printableJson(json: string): string {
  return json
    .split('\n')
    .map((line) => line.replace(UNPRINTABLE, escapesOf))
    .join('\n');
}

function escapesOf(character: string): string {
  return Array.from(
    { length: character.length },
    (_, place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, '0')}`,
  ).join('');
}
