/** An entry of the audit log as JSON. */
import { auditSentence } from '../audit/domain/text.ts';
import type { AuditRow } from '../audit/store/audit.ts';

export function auditEntryJson(row: AuditRow) {
  return {
    number: row.id,
    recorded_at: row.recordedAt.toISOString(),
    actor: {
      kind: row.actorKind,
      name: row.actorName,
      role: row.actorRole,
      origin: row.actorOrigin,
    },
    action: row.action,
    subject: { kind: row.subjectKind, id: row.subjectId },
    order_key: row.orderKey,
    reason: row.reason,
    result: row.result,
    attempt: row.attempt,
    text: auditSentence(row),
    detail: row.detail,
  };
}
