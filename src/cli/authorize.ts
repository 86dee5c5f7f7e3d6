/**
 * Refuses a command that the role of its caller does not permit.
 *
 * 1. With TALLYHOOK_TOKEN the caller is the holder of the token. Without it, a person who has the shell
 *    and the settings may do everything: the same person could use the database without Tallyhook.
 * 2. The refusal is in the audit log, with the holder's name.
 */
import { type Permission, permits, rolesWith } from '../access/domain/roles.ts';
import { findHolder } from '../access/findHolder.ts';
import { ADMIN, type Holder } from '../access/verifyToken.ts';
import { adminTokenOf } from '../assembly/settings.ts';
import { denialOf, recordRefusal } from '../audit/recordAudit.ts';
import type { Config } from '../config/config.ts';
import { monotonicMs } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { withDatabase } from './context.ts';
import { actAs, actorOf } from './person.ts';

/** @throws OperatorError when the token is not valid, or its role does not permit the command */
export async function authorizeCommand(
  path: string,
  needed: Permission,
  config: Config,
): Promise<void> {
  const { commandToken } = config;
  if (commandToken === undefined) return;
  if (commandToken === knownAdminToken(config)) {
    actAs(ADMIN);
    return;
  }
  await withDatabase(config, async (db) => {
    const holder = await validHolder(db, commandToken);
    actAs(holder);
    if (permits(holder.role, needed)) return;
    const denied = { subject: `tallyhook ${path}`, permission: needed };
    await recordRefusal(db, denialOf(actorOf(), denied));
    throw refusal(path, needed, holder);
  });
}

/** How long a command that runs on may use a token that has ended. */
const CHECK_EVERY_MS = 5_000;

/**
 * For a command that runs on: rejects once its token has expired or was revoked. The database is read at
 * most every five seconds.
 */
export function createTokenCheck(db: Queryable, config: Config): () => Promise<void> {
  const { commandToken } = config;
  let checkedMs = monotonicMs();
  return async () => {
    if (commandToken === undefined || monotonicMs() - checkedMs < CHECK_EVERY_MS) return;
    if (commandToken !== knownAdminToken(config)) await validHolder(db, commandToken);
    checkedMs = monotonicMs();
  };
}

async function validHolder(db: Queryable, token: string): Promise<Holder> {
  const holder = await findHolder(db, token);
  if (holder) return holder;
  throw new OperatorError(
    'TALLYHOOK_TOKEN is not a valid token: it is unknown, expired or revoked. Request a new one, ' +
      'which `npx tallyhook tokens create` makes.',
  );
}

/** ADMIN_TOKEN, where this machine has it. */
function knownAdminToken(config: Config): string | undefined {
  const isKnown = config.adminToken !== undefined || config.databaseUrl === undefined;
  return isKnown ? adminTokenOf(config) : undefined;
}

function refusal(path: string, needed: Permission, { name, role }: Holder): OperatorError {
  return new OperatorError(
    `The token ${name} in TALLYHOOK_TOKEN has the role ${role}, which does not permit ` +
      `\`tallyhook ${path}\`. Roles that permit it: ${rolesWith(needed).join(', ')}. Nothing was done.`,
  );
}
