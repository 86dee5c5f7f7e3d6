/**
 * The exit codes of every command (record 115). 1 is what a shell, npx and Node.js use for any error, so
 * nothing that a caller decides by has it.
 */
export const EXIT_CODES = {
  success: { code: 0, meaning: 'The command succeeded.' },
  unexpected: { code: 1, meaning: 'An error of Tallyhook.' },
  usage: { code: 2, meaning: 'Arguments or settings cannot be right.' },
  not_found: { code: 3, meaning: 'Nothing has the id, or nothing matches.' },
  refused: {
    code: 4,
    meaning: 'The state, the rights, the service or a person do not permit it, or not all of it.',
  },
  unavailable: {
    code: 5,
    meaning: 'The database, the service or another system does not respond as it should.',
  },
  differences: { code: 6, meaning: 'The command found differences, or a check failed.' },
  unknown: {
    code: 7,
    meaning: 'Whether the service did it is unknown. The help of the command states what to do.',
  },
} as const;

/** How a command ends. */
export type Ending = keyof typeof EXIT_CODES;
