/** Writes the audit log; domain/entry.ts has its rules. There is no other way to write it. */
import type { Database, Queryable } from '../platform/db/database.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import type { Actor } from './domain/actor.ts';
import type {
  AuditAction,
  AuditIntent,
  AuditOutcome,
  FinalResult,
  Refusal,
} from './domain/entry.ts';
import { RUNNING_FOR_MS } from './interrupted.ts';
import {
  type AuditRow,
  insertEntry,
  insertRefusal,
  lockAttempt,
  lockAttemptsOn,
  lockRefusals,
  readAttempt,
  readOpenAttemptOn,
  readUncertainAttemptOn,
} from './store/audit.ts';

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
  return await carryOut({ db, intent, attempt }, work, thrown);
}

/** An earlier attempt at the same has no result: it is running, or its process ended. Nothing was done. */
export interface ClaimedAttempt {
  readonly outcome: 'claimed';
  readonly attempt: number;
}

/** An attempt was interrupted after its claim, or its result was not recorded: it may have been carried out. */
export class AttemptInterrupted extends OperatorError {
  override readonly problem = 'unknown';

  constructor(attempt: number, { kind, id }: AuditIntent['subject'], cause: unknown) {
    super(
      `The outcome is unknown: ${toError(cause).message}. Attempt ${attempt} in the audit log. ` +
        `Refresh ${kind} ${id} from the service before you try again.`,
      { cause },
    );
  }
}

/**
 * Records an attempt of which there is at most one at a time: the entry `requested` is its claim. While it
 * has no result, nobody else makes the same attempt on the same subject.
 * @param exclusive actions that exclude each other on a subject, the intended one among them
 * @throws AttemptInterrupted for what is thrown after the claim: whoever reads only that the database is
 * unavailable would repeat what moved money
 */
export async function recordExclusiveAttempt<T>(
  db: Database,
  intent: AuditIntent,
  work: (attempt: number) => Promise<Attempted<T>>,
  exclusive: readonly AuditAction[] = [intent.action],
): Promise<T | ClaimedAttempt> {
  const on = { actions: exclusive, subject: intent.subject };
  const claim = await db.transaction(async (tx) => {
    await lockAttemptsOn(tx, on);
    const open = await readOpenAttemptOn(tx, on);
    if (open !== undefined) return { isMine: false, attempt: open };
    const attempt = await insertEntry(tx, intent, { result: 'requested', attempt: null });
    return { isMine: true, attempt };
  });
  const { isMine, attempt } = claim;
  if (!isMine) return { outcome: 'claimed', attempt };
  try {
    return await carryOut({ db, intent, attempt }, work, 'unknown');
  } catch (error) {
    throw new AttemptInterrupted(attempt, intent.subject, error);
  }
}

/**
 * The latest attempt at one of the actions on a subject that began within `withinMs`, if it may have been carried
 * out: it has no result, or an unknown one. Who claims such an attempt waits for the transaction.
 * @param on the actions that exclude each other, as for recordExclusiveAttempt
 */
export async function lockUncertainAttempt(
  tx: Queryable,
  on: { readonly actions: readonly AuditAction[]; readonly subject: AuditIntent['subject'] },
  withinMs: number,
): Promise<number | undefined> {
  await lockAttemptsOn(tx, on);
  return await readUncertainAttemptOn(tx, on, withinMs);
}

interface Requested {
  readonly db: Queryable;
  readonly intent: AuditIntent;
  readonly attempt: number;
}

async function carryOut<T>(
  { db, intent, attempt }: Requested,
  work: (attempt: number) => Promise<Attempted<T>>,
  thrown: FinalResult,
): Promise<T> {
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

export type ClosedAttempt =
  | { readonly outcome: 'closed'; readonly attempt: AuditRow }
  /** There is no entry `requested` of this number. */
  | { readonly outcome: 'unknown' }
  /** It has a result. */
  | { readonly outcome: 'already' }
  /** A process may still be carrying it out. */
  | { readonly outcome: 'running' };

/**
 * Closes an open attempt with the outcome that a person found (rule 2).
 * @param input the number of its entry `requested`
 */
export async function closeAttempt(
  tx: Queryable,
  actor: Actor,
  input: { readonly number: number; readonly result: FinalResult; readonly reason: string },
): Promise<ClosedAttempt> {
  const { number, result, reason } = input;
  await lockAttempt(tx, number);
  const attempt = await readAttempt(tx, number, RUNNING_FOR_MS);
  if (!attempt) return { outcome: 'unknown' };
  if (attempt.isEnded) return { outcome: 'already' };
  if (attempt.mayBeRunning) return { outcome: 'running' };
  const { action, subjectKind, subjectId, orderKey } = attempt;
  await insertEntry(
    tx,
    {
      actor,
      action: 'attempt.close',
      subject: { kind: subjectKind, id: subjectId },
      orderKey,
      reason,
      detail: { action },
    },
    { result, attempt: number },
  );
  return { outcome: 'closed', attempt };
}

/**
 * Records that something was refused, unless the actor has an entry of the same from the last minute: whoever repeats a
 * forbidden request, or guesses tokens, must not fill the table.
 * @param attempts how often it was refused since the entry before
 * @returns whether it was recorded
 */
export async function recordRefusal(
  db: Database,
  { detail, ...refusal }: Refusal,
  attempts = 1,
): Promise<boolean> {
  return await db.transaction(async (tx) => {
    await lockRefusals(tx, refusal.actor);
    return await insertRefusal(tx, { ...refusal, detail: { ...detail, attempts } });
  });
}

/**
 * The refusal of a request or a command that the actor's role does not permit.
 * @param subject a method and path, or a command
 */
export function denialOf(
  actor: Actor,
  { subject, permission }: { readonly subject: string; readonly permission: string },
): Refusal {
  return {
    actor,
    action: 'access.denied',
    subject: { kind: 'request', id: subject },
    detail: { permission },
  };
}
