/**
 * Records refused sign-ins in the audit log, without holding up the response: one entry a minute for each
 * cause and actor. The entry has the number of attempts since the one before, so nothing is left out, and
 * nobody fills the table.
 */
import type { Actor } from '../../audit/domain/actor.ts';
import { recordRefusedSignIn } from '../../audit/recordAudit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Log } from '../../platform/log.ts';
import { MINUTE_MS } from '../../platform/time.ts';

/** Why a sign-in was refused, for the audit log. */
export type RefusalCause =
  | 'token_invalid'
  | 'link_invalid'
  /** The identity provider refused, or the person declined. */
  | 'provider_refused'
  /** The response does not belong to a sign-in that this browser began, or cannot be verified. */
  | 'response_invalid'
  /** The person has no role. */
  | 'no_role';

export interface Refusal {
  readonly actor: Actor;
  readonly cause: RefusalCause;
  /** No secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

const MAX_KEPT = 1_000;

export function createRefusalRecorder(
  db: Database,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): (refusal: Refusal) => void {
  const kept = new Map<string, { recordedAtMs: number; attempts: number }>();
  return ({ actor, cause, detail = {} }) => {
    const key = `${cause} ${actor.kind} ${actor.name}`;
    const entry = kept.get(key) ?? { recordedAtMs: Number.NEGATIVE_INFINITY, attempts: 0 };
    entry.attempts += 1;
    const [oldest] = kept.keys();
    if (!kept.has(key) && kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(key, entry);
    const nowMs = clock.nowMs();
    if (nowMs - entry.recordedAtMs < MINUTE_MS) return;
    const { attempts } = entry;
    entry.recordedAtMs = nowMs;
    entry.attempts = 0;
    log.warn(
      { cause, name: actor.name, address: actor.origin, attempts },
      'console.sign_in_refused',
    );
    void recordRefusedSignIn(db, actor, { cause, attempts, detail }).then(
      (isRecorded) => {
        // Another process recorded one within the minute: the next entry has these, too.
        if (!isRecorded) entry.attempts += attempts;
      },
      (error: unknown) => {
        entry.attempts += attempts;
        log.warn({ error, cause }, 'console.refusal_not_recorded');
      },
    );
  };
}
