/** Closes and reopens months for an operator. */
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import type { Database } from '../platform/db/database.ts';
import {
  type Closed,
  type CloseRequest,
  closePeriod,
  type Reopened,
  reopenPeriod,
} from '../statements/closePeriod.ts';

export function closePeriodAs(
  { db }: { readonly db: Database },
  actor: Actor,
  request: Omit<CloseRequest, 'by'>,
): Promise<Closed> {
  return db.transaction(async (tx) => {
    const closed = await closePeriod(tx, { ...request, by: actor.name });
    if (closed.outcome === 'closed') {
      const { month, version, timeZone, lastTransfer, exceptions } = closed.closing;
      await recordAudit(tx, {
        actor,
        action: 'period.close',
        subject: { kind: 'month', id: month },
        reason: request.reason,
        detail: {
          version,
          time_zone: timeZone,
          last_transfer: lastTransfer,
          exceptions: exceptions.map(({ kind, count }) => ({ kind, count })),
        },
      });
    }
    return closed;
  });
}

/** @param request why; not empty */
export function reopenPeriodAs(
  { db }: { readonly db: Database },
  actor: Actor,
  { month, reason }: { readonly month: string; readonly reason: string },
): Promise<Reopened> {
  return db.transaction(async (tx) => {
    const reopened = await reopenPeriod(tx, { month, reason, by: actor.name });
    if (reopened.outcome === 'reopened') {
      const { version, lastTransfer } = reopened.closing;
      await recordAudit(tx, {
        actor,
        action: 'period.reopen',
        subject: { kind: 'month', id: month },
        reason,
        detail: { version, last_transfer: lastTransfer },
      });
    }
    return reopened;
  });
}
