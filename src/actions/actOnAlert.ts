/** Acknowledges, snoozes and assigns an alert for an operator. */
import {
  type Acknowledged,
  acknowledgeAlert,
  assignAlert,
  type ChangedAlert,
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
  input: {
    readonly number: number;
    readonly until: Date;
    readonly reason?: string | undefined;
  },
): Promise<ChangedAlert> {
  const { number, until, reason } = input;
  return db.transaction(async (tx) => {
    const snoozed = await snoozeAlert(tx, number, { by: actor.name, until, reason });
    if (snoozed.outcome === 'done') {
      const detail = { until: until.toISOString() };
      await record(tx, snoozed.alert, { actor, action: 'alert.snooze', reason, detail });
    }
    return snoozed;
  });
}

/** @param input to whom; undefined for nobody. The reason is not empty. */
export function assignAlertAs(
  { db }: Parts,
  actor: Actor,
  input: { readonly number: number; readonly to: string | undefined; readonly reason: string },
): Promise<ChangedAlert> {
  const { number, to, reason } = input;
  return db.transaction(async (tx) => {
    const assigned = await assignAlert(tx, number, { by: actor.name, to, reason });
    if (assigned.outcome === 'done') {
      const detail = { assigned_to: to ?? null };
      await record(tx, assigned.alert, { actor, action: 'alert.assign', reason, detail });
    }
    return assigned;
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
