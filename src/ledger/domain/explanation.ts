/**
 * The input and output of an explanation; see explain.ts. The output is plain data: times are ISO 8601,
 * and missing values are null.
 */
import type { RetryAdvice } from '../../contract/declines.ts';
import type { Contradiction, Epoch } from './epochs.ts';
import type { IllegalStep, KeyField, Uncertainty } from './merge.ts';
import type { ResourceRef, Snapshot, SnapshotSource } from './snapshot.ts';

/** A stored snapshot with its source. */
export interface Evidence extends Snapshot {
  /** The inbox row and the event that brought it; undefined for a retrieve or a list. */
  readonly inboxId: number | undefined;
  readonly eventId: string | undefined;
  readonly recordedMicros: number;
}

/** One stored row of the journal. */
export interface JournalEntry {
  readonly id: number;
  readonly leg: string;
  readonly currency: string;
  readonly seq: number;
  readonly debit: string;
  readonly credit: string;
  readonly amountMinor: number;
  readonly previousMinor: number;
  readonly cumulativeMinor: number;
  readonly headHash: string;
  readonly recordedMicros: number;
  /** When the service moved the money; undefined: not known yet. */
  readonly effectiveMicros: number | undefined;
  readonly inboxId: number | undefined;
  readonly eventId: string | undefined;
}

/** A difference that is open about a resource or an order. */
export interface OpenFinding {
  readonly class: string;
  readonly detail: unknown;
  readonly openedMicros: number;
}

/** Everything stored about one resource. */
export interface PartRecord {
  readonly ref: ResourceRef;
  readonly evidence: readonly Evidence[];
  readonly epochs: readonly Epoch[];
  readonly contradiction: Contradiction | undefined;
  readonly openFindings: readonly OpenFinding[];
  /** In the order in which they were posted. */
  readonly transfers: readonly JournalEntry[];
  readonly storedHeadHash: string | undefined;
  readonly nextCheckMicros: number | undefined;
}

export interface EvidenceSummary {
  readonly contentHash: string;
  readonly source: SnapshotSource;
  readonly eventId: string | null;
  readonly inboxId: number | null;
  /** When the service sent it, and when it was stored. */
  readonly observedAt: string;
  readonly recordedAt: string;
  readonly epoch: number;
  readonly version: string | null;
  readonly status: string | null;
  readonly stage: string | null;
}

export type Decision =
  /** Mentioned by another resource and not received itself. */
  | { readonly outcome: 'unseen'; readonly because: string }
  | { readonly outcome: 'only_one'; readonly because: string }
  | {
      readonly outcome: 'decided';
      /** The first field of the key in which head and runner-up differ. */
      readonly by: KeyField;
      readonly because: string;
      readonly runnerUp: EvidenceSummary;
    };

export interface FieldOrigin {
  readonly field: string;
  readonly value: string | number;
  readonly from: EvidenceSummary;
}

export interface AmountOrigin {
  readonly amount: 'captured' | 'authorized';
  readonly amountMinor: number;
  readonly basis: 'carried' | 'provisional' | 'unknown';
  readonly because: string;
  /** The body that carries it; null when none does. */
  readonly from: EvidenceSummary | null;
}

export interface Explained<Name extends string = string> {
  readonly name: Name;
  readonly meaning: string;
}

export interface FindingExplanation extends Explained {
  readonly detail: unknown;
  readonly openSince: string;
}

export interface Decline {
  readonly code: string | null;
  readonly message: string | null;
  readonly retry: RetryAdvice | null;
  /** Null if the code does not determine it, like `retry`. */
  readonly mayRetry: boolean | null;
  readonly mayUseAnotherMethod: boolean | null;
  readonly advice: string;
}

export interface TransferExplanation {
  readonly id: number;
  /** When it was recorded. */
  readonly at: string;
  /** When the service moved the money; null: not known yet. */
  readonly effectiveAt: string | null;
  readonly leg: string;
  readonly number: number;
  readonly currency: string;
  readonly amountMinor: number;
  readonly debit: Explained;
  readonly credit: Explained;
  readonly meaning: string;
  /** The transfer reverses an earlier one, in whole or in part. */
  readonly isTakenBack: boolean;
  readonly eventId: string | null;
  readonly inboxId: number | null;
  readonly headHash: string;
}

export interface PartExplanation extends ResourceRef {
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  /** Payments: with surcharge, tax and shipping; null if the service sends none. */
  readonly netAmountMinor: number | null;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  /** Refunds and disputes: the payment that the money is of. */
  readonly paymentId: string | null;
  /** The order that the resource itself names. */
  readonly orderId: string | null;
  /** Why it failed or was opened; see contract/reasons.ts. */
  readonly reason: string | null;
  /** Refunds: why it was requested. */
  readonly requestedFor: string | null;
  readonly bodies: number;
  readonly head: EvidenceSummary | null;
  readonly decision: Decision;
  /** Fields that the head does not carry, with the body that carries them. */
  readonly filled: readonly FieldOrigin[];
  readonly amounts: readonly AmountOrigin[];
  readonly uncertainties: readonly Explained<Uncertainty>[];
  readonly illegalSteps: readonly IllegalStep[];
  readonly contradiction: (Contradiction & { readonly observedAt: string }) | null;
  readonly findings: readonly FindingExplanation[];
  readonly decline: Decline | null;
  /** Whether enough is known to post money. */
  readonly posts: boolean;
  readonly transfers: readonly TransferExplanation[];
  /** Differences between the stored state and the fold of the evidence (invariant 3). */
  readonly discrepancies: readonly string[];
  readonly nextCheckAt: string | null;
}
