/**
 * Refuses an action before it does or records anything, while the console's database user may only
 * read. Otherwise a request could reach the service, and its result could not be recorded.
 */
import type { Queryable } from '../platform/db/database.ts';
import { readUserRights } from '../platform/db/rights.ts';
import { forbidden, type Reply } from './reply.ts';

const ROLE = 'tallyhook_app';

/** @returns the refusal, if there is one; rights are read until the user has them */
export type WriteCheck = () => Promise<Reply | undefined>;

export function createWriteCheck(db: Queryable): WriteCheck {
  let mayWrite = false;
  return async () => {
    if (mayWrite) return undefined;
    const { user, missing } = await readUserRights(db);
    mayWrite = missing[ROLE]?.length === 0;
    if (mayWrite) return undefined;
    return forbidden(
      `the database user ${user} has not all rights of the role ${ROLE}, which actions need`,
      `As an administrator of the database, run: grant ${ROLE} to ${user}.`,
    );
  };
}
