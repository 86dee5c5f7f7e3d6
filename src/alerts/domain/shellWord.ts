/**
 * An id from outside as the last argument of a command that a person may copy: one word for the
 * shell, and never an option of the command, which `--` before it rules out.
 */
export function shellWord(id: string): string {
  const word = /^[\w.:/@+-]+$/.test(id) ? id : `'${id.replaceAll("'", `'\\''`)}'`;
  return id.startsWith('-') ? `-- ${word}` : word;
}
