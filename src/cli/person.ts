/** Who runs a command, for the audit log. */
import { InvalidArgumentError, Option } from 'commander';
import type { Holder } from '../access/verifyToken.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { UsageError } from '../platform/errors.ts';
import { osUser } from '../platform/osUser.ts';
import { invocation } from './invocation.ts';

export function byOption(): Option {
  return new Option(
    '--by <name>',
    'your name, for the record (default: your user name on this machine)',
  );
}

/** Why the person does it: a command that records an action does not run without it. */
export function reasonOption(description: string): Option {
  return optionalReason(description).makeOptionMandatory();
}

export function optionalReason(description: string): Option {
  return new Option('--reason <text>', description).argParser((text) => {
    const reason = text.trim();
    if (reason !== '') return reason;
    throw new InvalidArgumentError('Give a reason: --reason "…".');
  });
}

/** Runs the command as the holder of TALLYHOOK_TOKEN. */
export function actAs(held: Holder): void {
  invocation().holder = held;
}

/**
 * The person who runs the command: the holder of TALLYHOOK_TOKEN, or without it the given name, or the
 * user who runs the process.
 * @throws UsageError when a name is given besides a token
 */
export function actorOf(by?: string): Actor {
  const { name, origin } = osUser();
  const { holder } = invocation();
  const given = by?.trim() ?? '';
  if (!holder) return { kind: 'cli', name: given === '' ? name : given, role: 'admin', origin };
  if (given !== '') {
    throw new UsageError(
      `--by cannot be used with TALLYHOOK_TOKEN: the record has the name of the token, ${holder.name}.`,
    );
  }
  return { kind: 'token', name: holder.name, role: holder.role, origin };
}
