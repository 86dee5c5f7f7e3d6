/** Acknowledges and snoozes an alert for an operator. */
import {
  type Acknowledged,
  acknowledgeAlert,
  type Snoozed,
  snoozeAlert,
} from '../alerts/actOnAlert.ts';
import type { AlertRow } from '../alerts/store/alertRows.ts';
import type { Actor } from '../audit/domain/actor.ts';
import type { AuditIntent } from '../audit/domain/entry.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { orderKeyOfSubject } from '../ledger/read/orderOfSubject.ts';
import type { Database, Queryable } from '../platform/db/database.ts';

interface Parts {
  readonly db: Database;
}

/** @param input what is being done about it; not empty */
export function acknowledgeAlertAs(
  { db }: Parts,
  actor: Actor,
  { number, reason }: { readonly number: number; readonly reason: string },
): Promise<Acknowledged> {
  return db.transaction(async (tx) => {
    const acknowledged = await acknowledgeAlert(tx, number, { by: actor.name, reason });
    if (acknowledged.outcome === 'done') {
      await record(tx, acknowledged.alert, { actor, action: 'alert.acknowledge', reason });
    }
    return acknowledged;
  });
}

/** @param input `until` as in snoozeAlert */
export function snoozeAlertAs(
  { db }: Parts,
  actor: Actor,
  { number, until }: { readonly number: number; readonly until: Date },
): Promise<Snoozed> {
  return db.transaction(async (tx) => {
    const snoozed = await snoozeAlert(tx, number, { by: actor.name, until });
    if (snoozed.outcome === 'done') {
      const detail = { until: until.toISOString() };
      await record(tx, snoozed.alert, { actor, action: 'alert.snooze', detail });
    }
    return snoozed;
  });
}

async function record(
  tx: Queryable,
  { id, rule, subject }: AlertRow,
  { detail, ...intent }: Pick<AuditIntent, 'actor' | 'action' | 'reason' | 'detail'>,
): Promise<void> {
  await recordAudit(tx, {
    ...intent,
    subject: { kind: 'alert', id: String(id) },
    orderKey: await orderKeyOfSubject(tx, subject),
    detail: { rule, subject, ...detail },
  });
}
