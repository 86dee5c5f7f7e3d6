/** What rules are told of the ledger. Instants in milliseconds since 1970, amounts in minor units. */
import type { ResourceKind } from '../../contract/resources/index.ts';

/** The state of a resource before a transaction, as stored under its lock. */
export interface StateBefore {
  readonly status: string;
  readonly stage: string | undefined;
  readonly deadlineMs: number | undefined;
  /** As below. */
  readonly termDays: number | undefined;
}

/** What a sentence about a resource tells of it. What no body carried is undefined. */
export interface Described {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string | undefined;
  readonly stage: string | undefined;
  readonly currency: string | undefined;
  readonly amountMinor: number | undefined;
  /** The shop's order; undefined where no payment names one. */
  readonly orderId: string | undefined;
  /** Of refunds and disputes; the id itself of payments. */
  readonly paymentId: string | undefined;
  /** Why it failed or was opened, in the words of the service; see contract/reasons.ts. */
  readonly reason: string | undefined;
}

/** A resource that was looked at and showed something new, as it is now. */
export interface ResourceFacts extends Described {
  /** Undefined when its state was not known. */
  readonly before: StateBefore | undefined;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly createdMs: number | undefined;
  /** When the service changed it last, by its own words. */
  readonly versionMs: number | undefined;
  /** Disputes: until when evidence is taken. Payments: until when to capture. */
  readonly deadlineMs: number | undefined;
  /** How many days after its creation it may still have this status; undefined: for ever. */
  readonly termDays: number | undefined;
  /** A body without a version says more than this status: the service is asked which one holds. */
  readonly isUncertain: boolean;
  /** It tells of the past: only what can still be acted on is said. */
  readonly isHistory: boolean;
}
