/** Who runs a command, for what is written down about them. */
import { userInfo } from 'node:os';
import { Option } from 'commander';

export function byOption(): Option {
  return new Option(
    '--by <name>',
    "who does this; the name of the operating system's user if left out",
  );
}

/** The name given, or that of the user whom the process belongs to. */
export function personOf(by: string | undefined): string {
  if (by !== undefined && by.trim() !== '') return by.trim();
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that no user has.
    return 'unknown';
  }
}
