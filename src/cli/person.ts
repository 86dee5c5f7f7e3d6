/** Who runs a command, for the audit log. */
import { userInfo } from 'node:os';
import { Option } from 'commander';

export function byOption(): Option {
  return new Option(
    '--by <name>',
    'your name, for the record (default: your user name on this machine)',
  );
}

/** The given name, or the name of the user who runs the process. */
export function personOf(by: string | undefined): string {
  if (by !== undefined && by.trim() !== '') return by.trim();
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return 'unknown';
  }
}
