/** The stored rows that make up a timeline, of an order or of one resource. Times are microseconds since 1970. */
import type { AuditFacts } from '../../audit/domain/text.ts';
import type { ReasonFields } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import type { OrderStatus } from '../../webhooks/orderStatuses.ts';
import type { SnapshotSource } from './snapshot.ts';

/** One observation of a part of the order, with its event if a webhook brought it. */
export interface SnapshotHistory extends ReasonFields {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly source: SnapshotSource;
  /** Whether the state of the part comes from this one now. */
  readonly isCurrent: boolean;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly receivedMinor: number | null;
  readonly recordedMicros: number;
  /** When the service changed the part. */
  readonly effectiveMicros: number;
  readonly eventNumber: number | null;
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly eventReceivedMicros: number | null;
}

/** A transfer of a part of the order. */
export interface TransferHistory {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly leg: string;
  readonly debit: string;
  readonly credit: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly cumulativeMinor: number;
  readonly recordedMicros: number;
  /** Null: posted by an earlier version, and not dated yet. */
  readonly effectiveMicros: number | null;
  readonly eventNumber: number | null;
  readonly eventId: string | null;
  /** Where the snapshot came from that was the head when it was posted. */
  readonly headSource: SnapshotSource | null;
}

/** A step of the order's own status. */
export interface StatusHistory {
  readonly number: number;
  readonly status: OrderStatus | null;
  readonly previousStatus: OrderStatus | null;
  readonly changedMicros: number;
  readonly eventNumber: number | null;
  readonly eventId: string | null;
}

/** What the shop registered at some time. */
export interface ExpectationHistory {
  readonly currency: string;
  readonly amountMinor: number;
  readonly registeredMicros: number;
  readonly registeredBy: string;
}

/** A finding about the order, one of its parts or one of their events. */
export interface FindingHistory {
  readonly id: number;
  readonly class: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly openedMicros: number;
  readonly closedMicros: number | null;
}

/** An alert about the order, one of its parts or one of their events, with its latest sentence. */
export interface AlertHistory {
  readonly id: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: string;
  readonly sentence: string;
  readonly openedMicros: number;
  readonly acknowledgedMicros: number | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgedReason: string | null;
  readonly resolvedMicros: number | null;
}

/** An entry of the audit log about the order, one of its parts, findings, alerts or events. */
export interface AuditHistory extends AuditFacts {
  readonly id: number;
  readonly recordedMicros: number;
  readonly attempt: number | null;
}

export interface History {
  readonly snapshots: readonly SnapshotHistory[];
  readonly transfers: readonly TransferHistory[];
  readonly statuses: readonly StatusHistory[];
  readonly expectations: readonly ExpectationHistory[];
  readonly findings: readonly FindingHistory[];
  readonly alerts: readonly AlertHistory[];
  readonly audit: readonly AuditHistory[];
}
