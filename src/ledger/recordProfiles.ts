/** Records objects of other profiles of the account; domain/account.ts has the rules. */
import type { Queryable } from '../platform/db/database.ts';
import type { Account } from './domain/account.ts';
import {
  isExpectedProfile,
  type ProfiledObject,
  profileFindings,
} from './domain/profileFindings.ts';
import { readOpenSubjects, selectOpenFindings } from './read/store/openFindings.ts';
import { closeClasses, openFindings } from './recordFindings.ts';

/** Opens a finding for each other profile that has none. An open one keeps its first object. */
export async function recordProfiles(
  tx: Queryable,
  objects: readonly ProfiledObject[],
  account: Account,
): Promise<void> {
  const shown = profileFindings(objects, account);
  if (shown.length === 0) return;
  const open = new Set((await selectOpenFindings(tx, shown)).map(({ subject }) => subject));
  await openFindings(
    tx,
    shown.filter(({ subject }) => !open.has(subject)),
  );
}

/** Closes findings about profiles that the setting allows now. */
export async function closeExpectedProfiles(tx: Queryable, account: Account): Promise<void> {
  const open = await readOpenSubjects(tx, 'foreign_profile');
  const passed = open.filter((subject) => isExpectedProfile(subject, account));
  await closeClasses(tx, ['foreign_profile'], passed);
}
