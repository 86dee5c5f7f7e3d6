/**
 * Why a resource failed, was undone or, for a dispute, was opened: code, text and what to do next.
 * Pure; contract/reasons.ts has the same in one line.
 */
import { isUndonePayout } from '../../contract/reasons.ts';
import type { ResourceKind } from '../../contract/resources/index.ts';
import { declineOf } from './explain.ts';

export interface ReasonSource {
  readonly kind: ResourceKind;
  readonly status: string | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly reason: string | null;
  readonly reasonCode: string | null;
}

export interface ReasonDetail {
  /** The service's code; disputes: the code of the card network. */
  readonly code: string | null;
  readonly message: string | null;
  /** The acquirer's own code and text. */
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly advice: string;
}

/** Undefined if the state needs no reason. A reason of an earlier attempt does not apply. */
export function reasonDetailOf(fields: ReasonSource): ReasonDetail | undefined {
  const advice = adviceOf(fields);
  if (advice === undefined) return undefined;
  const isDispute = fields.kind === 'dispute';
  return {
    code: isDispute ? fields.reasonCode : fields.unifiedCode,
    message: isDispute ? fields.reason : fields.unifiedMessage,
    errorCode: isDispute ? null : fields.errorCode,
    errorMessage: isDispute ? null : fields.errorMessage,
    advice,
  };
}

function adviceOf({ kind, status, unifiedCode, unifiedMessage }: ReasonSource): string | undefined {
  switch (kind) {
    case 'payment':
      if (status !== 'failed') return undefined;
      return declineOf(unifiedCode ?? undefined, unifiedMessage ?? undefined).advice;
    case 'refund':
      return status === 'failed'
        ? 'The customer did not receive this refund. If the amount is still owed, create a new refund, or pay the customer another way.'
        : undefined;
    case 'payout':
      return isUndonePayout(status)
        ? 'The payee does not have the money. Correct the cause, and create a new payout if the amount is still owed.'
        : undefined;
    case 'dispute':
      return disputeAdvice(status);
  }
}

const DISPUTE_ADVICE: Readonly<Record<string, string>> = {
  opened: 'Submit evidence before the deadline, or accept the dispute.',
  challenged: 'Evidence was submitted. Wait for the decision of the bank.',
  expired: 'The deadline passed without evidence. The amount stays with the customer.',
  accepted: 'The dispute was accepted. The amount stays with the customer.',
  lost: 'The bank decided for the customer. The amount stays with the customer.',
  won: 'The bank decided for you. The amount is yours again.',
  cancelled: 'The dispute was withdrawn. The amount is yours again.',
};

function disputeAdvice(status: string | null): string {
  const known = status !== null && Object.hasOwn(DISPUTE_ADVICE, status);
  const advice = known ? DISPUTE_ADVICE[status] : undefined;
  return advice ?? 'The status is not known yet. Retrieve the dispute from the service.';
}
