/** Findings about other profiles of the account; rule 2 of account.ts. */
import type { Account } from './account.ts';
import type { Caused, Finding } from './findings.ts';
import { type ResourceRef, refKey, type SnapshotSource } from './snapshot.ts';

/** An object, and how it came. */
export interface ProfiledObject extends Caused {
  readonly profileId: string | undefined;
  readonly ref: ResourceRef;
  readonly source: SnapshotSource;
}

/** The findings that these objects show: one for each other profile, with its first object. */
export function profileFindings(
  objects: readonly ProfiledObject[],
  { profileId: expected }: Pick<Account, 'profileId'>,
): readonly (Finding<'foreign_profile'> & Caused)[] {
  if (expected === undefined) return [];
  const findings = new Map<string, Finding<'foreign_profile'> & Caused>();
  for (const { profileId, ref, source, causedBy } of objects) {
    if (profileId === undefined || profileId === expected || findings.has(profileId)) continue;
    const detail = { profileId, resource: refKey(ref), source };
    findings.set(profileId, {
      class: 'foreign_profile',
      subject: profileSubject(profileId),
      detail,
      causedBy,
    });
  }
  return [...findings.values()];
}

function profileSubject(profileId: string): string {
  return `profile:${profileId}`;
}

/** Whether an open finding about a profile no longer holds, because the setting changed. */
export function isExpectedProfile(
  subject: string,
  { profileId: expected }: Pick<Account, 'profileId'>,
): boolean {
  return expected === undefined || subject === profileSubject(expected);
}
