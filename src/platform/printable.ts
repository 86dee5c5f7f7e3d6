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
