/** The input of the rules. Times are milliseconds since 1970, amounts are minor units. */
import type { ResourceKind } from '../../contract/resources/index.ts';

/** The stored state of a resource before a transaction, read under its lock. */
export interface StateBefore {
  readonly status: string;
  readonly stage: string | undefined;
  readonly deadlineMs: number | undefined;
  /** As below. */
  readonly termDays: number | undefined;
}

/** What the sentence of an alert contains. Fields that no body carried are undefined. */
export interface Described {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string | undefined;
  readonly stage: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
  /** The shop's order; undefined if no payment names one. */
  readonly orderId: string | undefined;
  /** Of refunds and disputes; the id itself of payments. */
  readonly paymentId: string | undefined;
  /** Why it failed or was opened, as the service reports it; see contract/reasons.ts. */
  readonly reason: string | undefined;
}

/** A resource with a new observation, in its current state. */
export interface ResourceFacts extends Described {
  /** Inbox number of the event that brought it, if one did. */
  readonly causedBy?: number | undefined;
  /** Undefined if its state was unknown. */
  readonly before: StateBefore | undefined;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly createdMs: number | undefined;
  /** Disputes: the deadline of the evidence. Payments: when the authorization expires. */
  readonly deadlineMs: number | undefined;
  /** For how many days it may have this status; undefined for no limit. */
  readonly termDays: number | undefined;
  /** When the term of its status began; undefined for none. */
  readonly termSinceMs: number | undefined;
  /** Disputes: when the stage began; otherwise undefined. */
  readonly stageSinceMs: number | undefined;
  /** Its finding `overdue` is open: what was past a term stays past it, also if a late body moves the beginning. */
  readonly isOverdue: boolean;
  /** A later status of this stage that a body without a version reports: a retrieve decides which one is current. */
  readonly statusAhead: string | undefined;
  /** Of the time before Tallyhook: only what can still be acted on alerts. */
  readonly isHistory: boolean;
}
