/** A payment with its refunds and disputes as JSON. */
import { describeReason } from '../contract/reasons.ts';
import type { ResourceDetail } from '../ledger/read/store/payments.ts';
import { declineJson } from './decline.ts';
import { orderReferenceJson } from './order.ts';
import { isoOrNull } from './time.ts';

export function paymentJson(found: ResourceDetail, children: readonly ResourceDetail[]) {
  const hasFailed = found.status === 'failed';
  return {
    payment_id: found.id,
    ...orderReferenceJson(found.orderKey),
    status: found.status,
    currency: found.currency,
    amount: found.amountMinor,
    net_amount: found.netAmountMinor,
    amount_authorized: found.authorizedMinor,
    amount_captured: found.capturedMinor,
    capture_method: found.captureMethod,
    capture_before: isoOrNull(found.deadlineAt),
    decline: declineJson(found),
    error_code: hasFailed ? found.errorCode : null,
    error_message: hasFailed ? found.errorMessage : null,
    reason: describeReason('payment', found.status, found) ?? null,
    uncertainties: [...found.uncertainties],
    open_findings: [...found.openFindings],
    created_at: isoOrNull(found.createdAt),
    updated_at: found.updatedAt.toISOString(),
    refunds: children.flatMap((one) => childJson('refund', one)),
    disputes: children.flatMap((one) => childJson('dispute', one)),
  };
}

function childJson(kind: 'refund' | 'dispute', found: ResourceDetail) {
  if (found.kind !== kind) return [];
  return [
    {
      kind,
      id: found.id,
      status: found.status,
      stage: found.stage,
      currency: found.currency,
      amount: found.amountMinor,
      reason: describeReason(kind, found.status, found) ?? null,
      uncertainties: [...found.uncertainties],
      open_findings: [...found.openFindings],
      created_at: isoOrNull(found.createdAt),
      evidence_due_by: isoOrNull(found.deadlineAt),
    },
  ];
}
