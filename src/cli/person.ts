/** Who runs a command, for the audit log. */
import { Option } from 'commander';
import type { Actor } from '../audit/domain/actor.ts';
import { osUser } from '../platform/osUser.ts';

export function byOption(): Option {
  return new Option(
    '--by <name>',
    'your name, for the record (default: your user name on this machine)',
  );
}

/**
 * The person who runs the command: the given name, or the user who runs the process. Who has the shell
 * and the URL of the database may do everything.
 */
export function actorOf(by?: string): Actor {
  const { name, origin } = osUser();
  const given = by?.trim() ?? '';
  return { kind: 'cli', name: given === '' ? name : given, role: 'admin', origin };
}
