/** The expected row of a resource, derived from its state by the code that writes the row. */
import { placeOf } from '../domain/checkResource.ts';
import type { Contradiction } from '../domain/epochs.ts';
import { stateFindings } from '../domain/findings.ts';
import type { ResourceState } from '../domain/merge.ts';
import type { Merged } from '../domain/mergeObservations.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { toUpdate } from '../resourceUpdate.ts';
import type { ResourceUpdate } from '../store/resources.ts';

/**
 * Columns that do not follow from the snapshots alone: contradictions, scheduled checks, the last
 * webhook, posted amounts and findings. Those that can be checked have checks of their own.
 */
type Unfolded =
  | 'kind'
  | 'id'
  | 'order_key'
  | 'contradiction'
  | 'is_check_wanted'
  | 'is_unsettled'
  | 'is_reported'
  | 'posted'
  | 'open_findings';
type FoldedColumns = Omit<ResourceUpdate, Unfolded>;

/** A resource that was only mentioned. */
const STUB = {
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
} as const satisfies Omit<FoldedColumns, 'head_hash'>;

/** The expected columns. The order of a refund or dispute is not among them. */
export function expectedColumns(
  ref: ResourceRef,
  state: ResourceState | undefined,
): Readonly<Record<string, unknown>> {
  const orderKey = placeOf(ref, state?.orderId);
  const place = orderKey === undefined ? {} : { order_key: orderKey };
  return { ...foldedColumns(ref, state), ...place };
}

function foldedColumns(
  ref: ResourceRef,
  state: ResourceState | undefined,
): Readonly<Record<string, unknown>> {
  const update = state && written(ref, state);
  if (!update) return { ...STUB, head_hash: null };
  const columns = [...Object.keys(STUB), 'head_hash'] as (keyof FoldedColumns)[];
  return Object.fromEntries(columns.map((column) => [column, update[column]]));
}

function written(ref: ResourceRef, state: ResourceState): ResourceUpdate | undefined {
  const row = {
    ...ref,
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
  const place = {
    paymentId: state.paymentId ?? null,
    orderKey: null,
    transfers: [],
    isReported: false,
  };
  return toUpdate(row, mergedOf(state, null), place);
}

/** Classes of findings that a state and a stored contradiction show. */
export function shownFindings(
  row: ResourceRef & { readonly contradiction: Contradiction | null },
  state: ResourceState | undefined,
): readonly string[] {
  return stateFindings(row, mergedOf(state, row.contradiction)).map((finding) => finding.class);
}

function mergedOf(state: ResourceState | undefined, contradiction: Contradiction | null): Merged {
  return {
    state,
    added: [],
    openedEpochs: [],
    contradiction: contradiction ?? undefined,
    isCheckDue: false,
  };
}
