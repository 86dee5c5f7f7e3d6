/** Writes the audit log; domain/entry.ts has its rules. There is no other way to write it. */
import type { Database, Queryable } from '../platform/db/database.ts';
import { toError } from '../platform/errors.ts';
import type { Actor } from './domain/actor.ts';
import type { AuditIntent, AuditOutcome, FinalResult } from './domain/entry.ts';
import { insertDenial, insertEntry, lockDenials } from './store/audit.ts';

/** Records an action in the transaction that carries it out (rule 1). */
export async function recordAudit(
  tx: Queryable,
  intent: AuditIntent,
  result: FinalResult = 'done',
): Promise<void> {
  await insertEntry(tx, intent, { result, attempt: null });
}

/** What an attempt returns: its value, and what to record of it. */
export interface Attempted<T> extends AuditOutcome {
  readonly value: T;
}

/**
 * Records an attempt before and after it is made (rule 2). If `work` throws, the result is `unknown`,
 * because nothing shows how far it came. `work` receives the number of the attempt.
 * @param db not a transaction: the first entry must be committed before `work` begins
 * @param thrown the result if `work` throws, where that shows how far it came
 */
export async function recordAttempt<T>(
  db: Queryable,
  intent: AuditIntent,
  work: (attempt: number) => Promise<Attempted<T>>,
  thrown: FinalResult = 'unknown',
): Promise<T> {
  const attempt = await insertEntry(db, intent, { result: 'requested', attempt: null });
  const end = ({ result, detail = {} }: AuditOutcome) =>
    insertEntry(db, { ...intent, detail: { ...intent.detail, ...detail } }, { result, attempt });
  let attempted: Attempted<T>;
  try {
    attempted = await work(attempt);
  } catch (error) {
    // Where even this entry cannot be written, the attempt stays open.
    await end({ result: thrown, detail: { error: toError(error).message } }).catch(() => undefined);
    throw error;
  }
  await end(attempted);
  return attempted.value;
}

/**
 * Records that a valid token was refused, at most once a minute for each token: a client that repeats a
 * forbidden request must not fill the table.
 * @param subject what was refused: a method and path, or a command
 */
export async function recordDenial(
  db: Database,
  actor: Actor,
  { subject, permission }: { readonly subject: string; readonly permission: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockDenials(tx, actor);
    await insertDenial(tx, {
      actor,
      action: 'access.denied',
      subject: { kind: 'request', id: subject },
      detail: { permission },
    });
  });
}
