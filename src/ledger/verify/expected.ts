/** The expected row of a resource, derived from its state by the code that writes the row. */
import { placeOf } from '../domain/checkResource.ts';
import type { Contradiction } from '../domain/epochs.ts';
import { stateFindings } from '../domain/findings.ts';
import type { ResourceState } from '../domain/merge.ts';
import type { Merged } from '../domain/mergeObservations.ts';
import type { ResourceRef } from '../domain/snapshot.ts';
import { newRow, STUB_STATE, toUpdate } from '../resourceUpdate.ts';
import type { ResourceUpdate } from '../store/resources.ts';

/**
 * Columns that do not follow from the snapshots alone: contradictions, scheduled checks, the last
 * webhook, posted amounts and findings. Nor does the beginning of a term from those that are rebuilt: without a version
 * it is when a body was first observed, and several events may have brought it. Those that can be checked have
 * checks of their own.
 */
type Unfolded =
  | 'kind'
  | 'id'
  | 'order_key'
  | 'term_since'
  | 'contradiction'
  | 'is_check_wanted'
  | 'is_unsettled'
  | 'is_reported'
  | 'posted'
  | 'open_findings';
type FoldedColumns = Omit<ResourceUpdate, Unfolded>;

const COLUMNS = Object.keys(STUB_STATE satisfies FoldedColumns) as (keyof FoldedColumns)[];

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
  if (!update) return STUB_STATE;
  return Object.fromEntries(COLUMNS.map((column) => [column, update[column]]));
}

function written(ref: ResourceRef, state: ResourceState): ResourceUpdate | undefined {
  const place = {
    paymentId: state.paymentId ?? null,
    orderKey: null,
    transfers: [],
    shown: [],
    isReported: false,
  };
  return toUpdate(newRow(ref), mergedOf(state, null), place);
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
    order: { ascending: [], newest: 0 },
    added: [],
    openedEpochs: [],
    contradiction: contradiction ?? undefined,
    isCheckDue: false,
  };
}
