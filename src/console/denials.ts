/**
 * Records in the audit log that valid tokens were refused: one entry a minute for each token, without
 * holding up the response.
 */
import type { Actor } from '../audit/domain/actor.ts';
import { recordDenial } from '../audit/recordAudit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Log } from '../platform/log.ts';
import { MINUTE_MS } from '../platform/time.ts';
import type { Denied } from './auth.ts';

export function createDenialRecorder(
  db: Database,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): (actor: Actor, denied: Denied) => void {
  const recordedAtMs = new Map<string, number>();
  return (actor, denied) => {
    const nowMs = clock.nowMs();
    if (nowMs - (recordedAtMs.get(actor.name) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
    recordedAtMs.set(actor.name, nowMs);
    void recordDenial(db, actor, denied).catch((error: unknown) =>
      log.warn({ error, name: actor.name }, 'console.denial_not_recorded'),
    );
  };
}
