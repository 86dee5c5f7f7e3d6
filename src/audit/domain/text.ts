/** Entries of the audit log for people. */
import type { AuditAction, AuditResult } from './entry.ts';

const NAMES: Readonly<Record<AuditAction, string>> = {
  'access.denied': 'Use without permission',
  'alert.acknowledge': 'Acknowledgment',
  'alert.assign': 'Assignment',
  'alert.snooze': 'Snooze',
  'alert.test': 'Test message',
  'archive.clear': 'Clearing',
  'archive.restore': 'Restore',
  'attempt.close': 'Closing of an attempt',
  'authorization.cancel': 'Cancellation',
  'authorization.capture': 'Capture',
  'dispute.accept': 'Acceptance',
  'dispute.evidence': 'Evidence',
  'dispute.upload': 'Upload of a file',
  'erasure.finish': 'End',
  'erasure.request': 'Request',
  'event.discard': 'Discarding',
  'event.forward': 'Forwarding',
  'event.replay': 'Replay',
  'finding.accept': 'Acceptance',
  'journal.export': 'Export',
  'list.export': 'Export',
  'message.resend': 'Resend',
  'order.register': 'Registration',
  'payment.refund': 'Refund',
  'payout.cancel': 'Cancellation',
  'payout.fulfill': 'Fulfillment',
  'payout.retry': 'New payout',
  'period.close': 'Closing',
  'period.reopen': 'Reopening',
  'reconciliation.pause': 'Pause',
  'reconciliation.resume': 'End of the pause',
  'reconciliation.start': 'Reconciliation',
  'reconciliation.stop': 'Stop',
  'replay.start': 'Start',
  'replay.stop': 'Stop',
  'resource.refresh': 'Refresh',
  'retention.run': 'Removal',
  'sandbox.use': 'Use',
  'schedule.run': 'Run',
  'session.end': 'End',
  'session.refuse': 'Refused sign-in',
  'session.start': 'Sign-in',
  'settlement.import': 'Import',
  'settlement.match': 'Match',
  'settlement.unmatch': 'Undoing of a match',
  'system.start': 'Start',
  'system.stop': 'Stop',
  'token.create': 'Creation',
  'token.revoke': 'Revocation',
};

export interface AuditFacts {
  readonly actorName: string;
  readonly actorRole: string;
  readonly action: AuditAction;
  readonly subjectKind: string;
  readonly subjectId: string;
  readonly reason: string | null;
  readonly result: AuditResult;
}

/** An entry in one sentence, such as `Capture of payment pay_1 by ada (treasurer): done. Reason: shipped.` */
export function auditSentence(entry: AuditFacts): string {
  const { actorName, actorRole, action, subjectKind, subjectId, reason, result } = entry;
  const what = `${NAMES[action]} of ${subjectKind} ${subjectId} by ${actorName} (${actorRole})`;
  const why = reason === null ? '' : ` Reason: ${reason.replace(/\.$/, '')}.`;
  return `${what}: ${result}.${why}`;
}
