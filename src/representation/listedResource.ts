/** Payments, refunds, disputes and payouts of a list as JSON. */
import { toSafeInteger } from '../contract/money.ts';
import { describeReason } from '../contract/reasons.ts';
import { reasonDetailOf } from '../ledger/domain/reasonDetail.ts';
import type { ListTotals } from '../ledger/read/resourceList.ts';
import type { ListedResource } from '../ledger/read/store/resourceList.ts';
import { orderReferenceJson } from './order.ts';
import { isoOrNull } from './time.ts';

export function listedPaymentJson(row: ListedResource) {
  return {
    payment_id: row.id,
    ...orderReferenceJson(row.orderKey),
    ...moneyJson(row),
    net_amount: row.netAmountMinor,
    amount_authorized: row.authorizedMinor,
    amount_captured: row.capturedMinor,
    capture_method: row.captureMethod,
    capture_before: isoOrNull(row.deadlineAt),
    ...stateJson(row),
  };
}

export function refundJson(row: ListedResource) {
  return {
    refund_id: row.id,
    payment_id: row.paymentId,
    ...orderReferenceJson(row.orderKey),
    ...moneyJson(row),
    requested_for: row.reason,
    ...stateJson(row),
  };
}

export function disputeJson(row: ListedResource) {
  return {
    dispute_id: row.id,
    payment_id: row.paymentId,
    ...orderReferenceJson(row.orderKey),
    stage: row.stage,
    ...moneyJson(row),
    evidence_due_by: isoOrNull(row.deadlineAt),
    ...stateJson(row),
  };
}

export function payoutJson(row: ListedResource) {
  return {
    payout_id: row.id,
    reference: row.reference,
    ...moneyJson(row),
    ...stateJson(row),
  };
}

function moneyJson({ status, currency, amountMinor }: ListedResource) {
  return { status, currency, amount: amountMinor };
}

function stateJson(row: ListedResource) {
  return {
    reason: describeReason(row.kind, row.status, row) ?? null,
    reason_detail: reasonDetailJson(row),
    uncertainties: [...row.uncertainties],
    open_findings: [...row.openFindings],
    created_at: isoOrNull(row.createdAt),
    first_seen_at: row.firstSeenAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function reasonDetailJson(row: ListedResource) {
  const detail = reasonDetailOf(row);
  if (!detail) return null;
  return {
    code: detail.code,
    message: detail.message,
    error_code: detail.errorCode,
    error_message: detail.errorMessage,
    advice: detail.advice,
  };
}

export function listTotalsJson({ count, isComplete, currencies }: ListTotals) {
  return {
    count,
    complete: isComplete,
    currencies: currencies.map((one) => ({
      currency: one.currency,
      count: one.count,
      amount: toSafeInteger(one.amountMinor),
      amount_captured: toSafeInteger(one.capturedMinor),
    })),
  };
}
