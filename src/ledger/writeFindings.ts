/** Opens what subjects show now and closes what they no longer show, as two sets. */
import type { Queryable } from '../platform/db/database.ts';
import type { Finding } from './domain/findings.ts';
import { closeFindings, openFindings } from './store/findings.ts';

/** One subject: the classes that stand open about it, and what it shows now. */
export interface SubjectFindings {
  readonly subject: string;
  readonly open: readonly string[];
  readonly shown: readonly Finding[];
}

export async function writeFindings(
  tx: Queryable,
  subjects: readonly SubjectFindings[],
): Promise<void> {
  const shown = subjects.flatMap((one) => one.shown);
  if (shown.length > 0) await openFindings(tx, shown);
  const passed = subjects.flatMap(({ subject, open, shown: now }) =>
    open
      .filter((name) => !now.some((finding) => finding.class === name))
      .map((name) => ({ class: name, subject })),
  );
  if (passed.length > 0) await closeFindings(tx, passed);
}
