/** Converts the merged state of a resource to its row. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { FINAL_STATUSES } from '../contract/statuses.ts';
import type { Finding } from './domain/findings.ts';
import { postedAfter, type Transfer } from './domain/legs.ts';
import type { Merged } from './domain/mergeObservations.ts';
import { staysOverdue } from './domain/overdue.ts';
import type { ResourceRef } from './domain/snapshot.ts';
import { instantOrNull } from './domain/time.ts';
import type { ResourceRow, ResourceUpdate, Stub } from './store/resources.ts';

/** Undefined if there were only hints, and so no state to store. */
export function toUpdate(
  row: ResourceRow,
  merged: Merged,
  place: {
    readonly paymentId: string | null;
    readonly orderKey: string | null;
    readonly transfers: readonly Transfer[];
    /** The findings that the merged state shows. */
    readonly shown: readonly Finding[];
    readonly isReported: boolean;
  },
): ResourceUpdate | undefined {
  const { state } = merged;
  if (!state) return undefined;
  return {
    kind: row.kind,
    id: row.id,
    payment_id: place.paymentId,
    order_key: place.orderKey,
    status: orNull(state.status),
    stage: orNull(state.stage),
    currency: orNull(state.currency),
    amount_minor: orNull(state.amountMinor),
    net_amount_minor: orNull(state.netAmountMinor),
    authorized_minor: state.authorizedMinor,
    captured_minor: state.capturedMinor,
    capture_method: orNull(state.captureMethod),
    reference: orNull(state.orderId),
    unified_code: orNull(state.unifiedCode),
    unified_message: orNull(state.unifiedMessage),
    error_code: orNull(state.errorCode),
    error_message: orNull(state.errorMessage),
    reason: orNull(state.reason),
    reason_code: orNull(state.reasonCode),
    created_at: instantOrNull(state.createdMicros),
    deadline_at: instantOrNull(state.deadlineMicros),
    term_since: instantOrNull(state.termSinceMicros),
    epoch: state.epoch,
    version_micros: orNull(state.versionMicros),
    head_hash: state.headHash,
    posts: state.posts,
    uncertainties: state.uncertainties,
    contradiction: orNull(merged.contradiction),
    open_findings: [
      ...place.shown.map((finding) => finding.class),
      ...(staysOverdue(row, state) ? ['overdue'] : []),
    ],
    is_check_wanted: merged.isCheckDue,
    is_unsettled: isUnsettled(row.kind, state.status),
    is_reported: place.isReported,
    posted: postedAfter(row.posted, place.transfers),
  };
}

/** A final payment does not change on its own. Refunds fail late, payouts return, disputes reopen. */
function isUnsettled(kind: ResourceKind, status: string | undefined): boolean {
  return kind !== 'payment' || !FINAL_STATUSES.payment.has(status ?? '');
}

/** The state of a resource that was only mentioned. */
export const STUB_STATE = {
  payment_id: null,
  status: null,
  stage: null,
  currency: null,
  amount_minor: null,
  net_amount_minor: null,
  authorized_minor: 0,
  captured_minor: 0,
  capture_method: null,
  reference: null,
  unified_code: null,
  unified_message: null,
  error_code: null,
  error_message: null,
  reason: null,
  reason_code: null,
  created_at: null,
  deadline_at: null,
  epoch: 0,
  version_micros: null,
  posts: false,
  uncertainties: ['incomplete'],
  head_hash: null,
} as const satisfies Partial<ResourceUpdate>;

/** The row of a resource that was only mentioned. It is due for a retrieve. */
export function toStubRow({ kind, id, orderKey }: Stub): ResourceUpdate {
  return {
    ...STUB_STATE,
    kind,
    id,
    order_key: orderKey,
    term_since: null,
    contradiction: null,
    open_findings: [],
    is_check_wanted: true,
    is_unsettled: true,
    is_reported: false,
    posted: {},
  };
}

/** The stored state of a resource that does not exist yet. */
export function newRow({ kind, id }: ResourceRef): ResourceRow {
  return {
    kind,
    id,
    paymentId: null,
    orderKey: null,
    status: null,
    stage: null,
    deadlineAt: null,
    currency: null,
    epoch: 0,
    contradiction: null,
    openFindings: [],
    posted: {},
  };
}

function orNull<T>(value: T | undefined): T | null {
  return value ?? null;
}
