/**
 * An entry of the audit log.
 *
 * 1. An action on the ledger alone has one entry, in the transaction that changes the ledger: either
 *    both are committed or neither is.
 * 2. An action that calls the payment service, a channel or a queue is an *attempt*. Its entry
 *    `requested` is committed before the call, its result after. An attempt without a result is *open*:
 *    it is running, or its process ended before the response, and the outcome is unknown. A person who
 *    finds out closes it, by an entry of their own.
 * 3. An action that changed nothing, such as a second acknowledgment, has no entry.
 * 4. Entries are never changed or deleted, by anybody.
 */
import type { Actor } from './actor.ts';

export const AUDIT_ACTIONS = [
  'access.denied',
  'alert.acknowledge',
  'alert.assign',
  'alert.snooze',
  'alert.test',
  'archive.clear',
  'archive.restore',
  'attempt.close',
  'authorization.cancel',
  'authorization.capture',
  'dispute.accept',
  'dispute.evidence',
  'dispute.upload',
  'erasure.finish',
  'erasure.request',
  'event.discard',
  'event.forward',
  'event.replay',
  'finding.accept',
  'journal.export',
  'list.export',
  'message.resend',
  'order.register',
  'payment.refund',
  'payout.cancel',
  'payout.fulfill',
  'payout.retry',
  'period.close',
  'period.reopen',
  'reconciliation.pause',
  'reconciliation.resume',
  'reconciliation.start',
  'reconciliation.stop',
  'replay.start',
  'replay.stop',
  'resource.refresh',
  'retention.run',
  'sandbox.use',
  'schedule.run',
  'session.end',
  'session.refuse',
  'session.start',
  'settlement.import',
  'settlement.match',
  'settlement.unmatch',
  'system.start',
  'system.stop',
  'token.create',
  'token.revoke',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** How an action ended. `unknown`: it may have happened. */
export const FINAL_RESULTS = ['done', 'failed', 'refused', 'unknown'] as const;
export type FinalResult = (typeof FINAL_RESULTS)[number];

export const AUDIT_RESULTS = ['requested', ...FINAL_RESULTS] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** What an action is about, such as `payment` and its id. */
export interface AuditSubject {
  readonly kind: string;
  readonly id: string;
}

/** What is known of an action before it is carried out. */
export interface AuditIntent {
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /** The order of the subject, where it has one: the order's timeline has the entry. */
  readonly orderKey?: string | null;
  readonly reason?: string | undefined;
  /** JSON, with names and units as in the admin API. No bodies and no secrets. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** How an attempt ended, and what to add to its detail. */
export interface AuditOutcome {
  readonly result: FinalResult;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** What was refused, and to whom. */
export interface Refusal extends AuditIntent {
  readonly action: 'access.denied' | 'session.refuse';
}
