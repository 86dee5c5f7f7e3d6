/** The user and the machine that run this process. */
import { hostname, userInfo } from 'node:os';

export interface OsUser {
  readonly name: string;
  /** `user@host`. */
  readonly origin: string;
}

export function osUser(): OsUser {
  const name = userName();
  return { name, origin: `${name}@${hostname()}` };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id without a name.
    return 'unknown';
  }
}
