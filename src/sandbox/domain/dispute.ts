/**
 * The lifecycle of a dispute. The contract shows its id and that evidence makes it `submitted`;
 * stages, statuses and their order are those of services of this family.
 *
 * 1. Within a stage: opened → anything; challenged → anything but opened; the others are final.
 * 2. Stages only move forward, and a new stage may bring any status: a lost dispute can come back.
 * 3. Evidence challenges an open dispute until its deadline, and stays when the dispute moves. Without
 *    any evidence the dispute still expires.
 * 4. The amount is an integer of minor units; as text, as services of this family send it, it is a fault.
 */
import {
  type DisputeStage,
  type DisputeStatus,
  EVIDENCE_GROUPS,
  type EvidenceField,
} from '../../contract/index.ts';
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts';
import { accept, type Decision, rejectState, rejectValue } from './decision.ts';
import type { PaymentState } from './payment.ts';
import { isoTime, nextModified } from './time.ts';

export interface DisputeState {
  readonly dispute_id: string;
  readonly payment_id: string;
  readonly attempt_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly dispute_stage: DisputeStage;
  readonly dispute_status: `dispute_${DisputeStatus}`;
  readonly status: DisputeStatus;
  readonly connector_status: string;
  readonly connector_dispute_id: string;
  readonly connector_reason?: string | undefined;
  readonly connector_reason_code?: string | undefined;
  readonly challenge_required_by: string;
  readonly is_already_refunded: boolean;
  readonly profile_id: string;
  readonly created: string;
  readonly modified_at: string;
  /** Of the last change of the evidence. */
  readonly evidence_submitted_at?: string | undefined;
  readonly hidden: {
    readonly due?: DisputeDue | undefined;
    /** Never empty values: those clear their field. */
    readonly evidence?: EvidenceFields | undefined;
  };
}

interface DisputeDue {
  readonly at: string;
  readonly what: 'expire' | 'report';
}

export type EvidenceFields = { readonly [Field in EvidenceField]?: string | undefined };

export interface DisputeInput {
  /** Minor units; the whole received amount by default. */
  readonly amount?: number | undefined;
  readonly stage?: DisputeStage | undefined;
  readonly reason?: string | undefined;
  readonly reason_code?: string | undefined;
}

export interface NewDispute {
  readonly disputeId: string;
  readonly nowMs: number;
  /** Sum of the payment's refunds that did not fail, minor units. */
  readonly refundedMinor: number;
}

/** The contract leaves the length of the evidence deadline open. */
const EVIDENCE_MS = 10 * DAY_MS;
/** Between an acceptance and the processor's report of it, which is what sends the webhook. */
const REPORT_MS = MINUTE_MS;

/** The customer's bank opens a dispute about a payment that received money. */
export function openDispute(
  payment: PaymentState,
  input: DisputeInput,
  created: NewDispute,
): Decision<DisputeState> {
  const amountMinor = input.amount ?? payment.amount_received;
  if (amountMinor < 1 || amountMinor > payment.amount_received) {
    return rejectValue(
      `amount ${amountMinor} must be from 1 to the ${payment.amount_received} that the payment received`,
    );
  }
  const at = isoTime(created.nowMs);
  const until = isoTime(created.nowMs + EVIDENCE_MS);
  return accept({
    dispute_id: created.disputeId,
    payment_id: payment.payment_id,
    attempt_id: `${payment.payment_id}_${payment.attempt_count}`,
    amount: amountMinor,
    currency: payment.currency,
    dispute_stage: input.stage ?? 'dispute',
    ...statusFields('opened'),
    connector_dispute_id: `sbx_${created.disputeId}`,
    connector_reason: input.reason,
    connector_reason_code: input.reason_code,
    challenge_required_by: until,
    is_already_refunded: created.refundedMinor >= payment.amount_received,
    profile_id: payment.profile_id,
    created: at,
    modified_at: at,
    hidden: { due: { at: until, what: 'expire' } },
  });
}

/** A step of the bank or the network: another status, a later stage, or both. */
export interface DisputeMove {
  readonly stage?: DisputeStage | undefined;
  readonly status?: DisputeStatus | undefined;
}

export function moveDispute(
  state: DisputeState,
  move: DisputeMove,
  nowMs: number,
): Decision<DisputeState> {
  const stage = move.stage ?? state.dispute_stage;
  const status = move.status ?? 'opened';
  const mayMove =
    stage === state.dispute_stage
      ? NEXT_STATUSES[state.status].has(status)
      : NEXT_STAGES[state.dispute_stage].has(stage);
  if (!mayMove) {
    return rejectState(
      409,
      'IR_16',
      `A dispute cannot move from ${state.dispute_stage}/${state.status} to ${stage}/${status}`,
    );
  }
  const until =
    stage === state.dispute_stage ? state.challenge_required_by : isoTime(nowMs + EVIDENCE_MS);
  return accept({
    ...state,
    dispute_stage: stage,
    ...statusFields(status),
    challenge_required_by: until,
    modified_at: nextModified(state.modified_at, nowMs),
    hidden: withDue(state, status === 'opened' ? { at: until, what: 'expire' } : undefined),
  });
}

/** Accept Dispute. The webhook follows when the processor reports the acceptance. */
export function acceptDispute(state: DisputeState, nowMs: number): Decision<DisputeState> {
  if (!isContestable(state)) {
    return rejectState(
      400,
      'HE_03',
      `You cannot accept this dispute because it is ${state.dispute_stage}/${state.status}`,
    );
  }
  return accept({
    ...state,
    ...statusFields('accepted'),
    modified_at: nextModified(state.modified_at, nowMs),
    hidden: withDue(state, { at: isoTime(nowMs + REPORT_MS), what: 'report' }),
  });
}

/** Runs the timer: the deadline for evidence passes, or the processor reports. */
export function runDisputeDue(state: DisputeState, nowMs: number): DisputeState {
  const idle = { ...state, hidden: withDue(state, undefined) };
  if (state.hidden.due?.what !== 'expire') return idle;
  return moveDispute(state, { status: 'expired' }, nowMs).value ?? idle;
}

function withDue({ hidden }: DisputeState, due: DisputeDue | undefined): DisputeState['hidden'] {
  return { ...hidden, due };
}

/**
 * Submit Evidence: adds and changes fields, and clears those that are empty. The webhook follows when
 * the processor reports that the dispute is challenged, as at services of this family.
 * service-interface.md §4.6.1.
 */
export function changeEvidence(
  state: DisputeState,
  fields: EvidenceFields,
  nowMs: number,
): Decision<DisputeState> {
  const isLate = nowMs >= Date.parse(state.challenge_required_by);
  if (!isContestable(state) || isLate) {
    return rejectState(
      400,
      'HE_03',
      `Evidence is accepted until ${state.challenge_required_by} while a dispute is open; ` +
        `this one is ${state.dispute_stage}/${state.status}`,
    );
  }
  const all = Object.entries({ ...state.hidden.evidence, ...fields });
  const evidence = Object.fromEntries(
    all.filter(([, value]) => value !== undefined && value !== ''),
  );
  const addsAny = Object.values(fields).some((value) => value !== undefined && value !== '');
  const challenges = state.status === 'opened' && addsAny;
  const report: DisputeDue = { at: isoTime(nowMs + REPORT_MS), what: 'report' };
  return accept({
    ...state,
    ...(challenges && statusFields('challenged')),
    evidence_submitted_at: isoTime(nowMs),
    modified_at: nextModified(state.modified_at, nowMs),
    hidden: { due: challenges ? report : state.hidden.due, evidence },
  });
}

/** Evidence by group, without empty groups. Same section, "Get Evidence". */
export function groupEvidence({ hidden }: DisputeState): object {
  const { evidence = {} } = hidden;
  const groups = Object.entries(EVIDENCE_GROUPS).flatMap(([group, names]) => {
    const given = names.flatMap((name) => (evidence[name] ? [[name, evidence[name]]] : []));
    return given.length === 0 ? [] : [[group, Object.fromEntries(given)]];
  });
  return Object.fromEntries(groups);
}

function isContestable({ dispute_stage: stage, status }: DisputeState): boolean {
  return (status === 'opened' || status === 'challenged') && stage !== 'dispute_reversal';
}

function statusFields(
  status: DisputeStatus,
): Pick<DisputeState, 'status' | 'dispute_status' | 'connector_status'> {
  return { status, dispute_status: `dispute_${status}`, connector_status: status };
}

const ENDS: readonly DisputeStatus[] = ['expired', 'accepted', 'cancelled', 'lost', 'won'];

const NEXT_STATUSES: Readonly<Record<DisputeStatus, ReadonlySet<DisputeStatus>>> = {
  opened: new Set(['opened', 'challenged', ...ENDS]),
  challenged: new Set(['challenged', ...ENDS]),
  expired: new Set(['expired']),
  accepted: new Set(['accepted']),
  cancelled: new Set(['cancelled']),
  lost: new Set(['lost']),
  won: new Set(['won']),
};

const NEXT_STAGES: Readonly<Record<DisputeStage, ReadonlySet<DisputeStage>>> = {
  pre_dispute: new Set(['dispute', 'pre_arbitration', 'arbitration', 'dispute_reversal']),
  dispute: new Set(['pre_arbitration', 'arbitration', 'dispute_reversal']),
  pre_arbitration: new Set(['arbitration', 'dispute_reversal']),
  arbitration: new Set(['dispute_reversal']),
  dispute_reversal: new Set(),
};
