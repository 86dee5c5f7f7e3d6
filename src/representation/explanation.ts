/** An explanation of an order, or of a resource without one, as JSON. */
import type { CurrencyExplanation, OrderExplanation } from '../ledger/domain/explainOrder.ts';
import type {
  Decision,
  EvidenceSummary,
  FindingExplanation,
  PartExplanation,
  TransferExplanation,
} from '../ledger/domain/explanation.ts';
import { detailValueJson } from './detail.ts';
import { fieldName } from './fieldName.ts';
import { amountsJson, orderNamedBy } from './order.ts';

export function orderExplanationJson(order: OrderExplanation) {
  return {
    order_id: order.orderId,
    order_key: order.orderKey,
    named_by: orderNamedBy(order.orderKey),
    status: order.status,
    because: order.because,
    moved_to: [...order.movedTo],
    currencies: order.currencies.map(currencyJson),
    findings: order.findings.map(findingJson),
    parts: order.parts.map(partExplanationJson),
    discrepancies: [...order.discrepancies],
  };
}

function currencyJson(total: CurrencyExplanation) {
  return {
    currency: total.currency,
    status: total.status,
    ...amountsJson(total),
    because: total.because,
    decided_by: total.decidedBy.map(({ kind, id }) => ({ kind, id })),
    notes: [...total.notes],
  };
}

export function partExplanationJson(part: PartExplanation) {
  return {
    kind: part.kind,
    id: part.id,
    status: part.status,
    stage: part.stage,
    currency: part.currency,
    amount: part.amountMinor,
    net_amount: part.netAmountMinor,
    amount_authorized: part.authorizedMinor,
    amount_captured: part.capturedMinor,
    reason: part.reason,
    requested_for: part.requestedFor,
    snapshots: part.bodies,
    head: part.head && evidenceJson(part.head),
    decision: decisionJson(part.decision),
    filled: part.filled.map(({ field, value, from }) => ({
      field: fieldName(field),
      value,
      from: evidenceJson(from),
    })),
    amounts: part.amounts.map(({ amount, amountMinor, basis, because, from }) => ({
      field: `amount_${amount}`,
      amount: amountMinor,
      basis,
      because,
      from: from && evidenceJson(from),
    })),
    uncertainties: part.uncertainties.map(({ name, meaning }) => ({ name, meaning })),
    illegal_steps: part.illegalSteps.map(({ from, to }) => ({ from, to })),
    contradiction: part.contradiction && contradictionJson(part.contradiction),
    findings: part.findings.map(findingJson),
    decline: part.decline && {
      unified_code: part.decline.code,
      message: part.decline.message,
      retry: part.decline.retry,
      may_retry: part.decline.mayRetry,
      may_use_another_method: part.decline.mayUseAnotherMethod,
      advice: part.decline.advice,
    },
    is_postable: part.posts,
    transfers: part.transfers.map(transferJson),
    discrepancies: [...part.discrepancies],
    next_check_at: part.nextCheckAt,
  };
}

function evidenceJson(evidence: EvidenceSummary) {
  return {
    content_hash: evidence.contentHash,
    source: evidence.source,
    event_id: evidence.eventId,
    event_number: evidence.inboxId,
    observed_at: evidence.observedAt,
    recorded_at: evidence.recordedAt,
    epoch: evidence.epoch,
    version: evidence.version,
    status: evidence.status,
    stage: evidence.stage,
  };
}

function decisionJson(decision: Decision) {
  const { outcome, because } = decision;
  return decision.outcome === 'decided'
    ? { outcome, because, by: decision.by, runner_up: evidenceJson(decision.runnerUp) }
    : { outcome, because, by: null, runner_up: null };
}

function contradictionJson({ terms, observedAt }: NonNullable<PartExplanation['contradiction']>) {
  return {
    terms: {
      status: terms.status ?? null,
      stage: terms.stage ?? null,
      amount: terms.amountMinor ?? null,
      currency: terms.currency ?? null,
      amount_received: terms.amountReceivedMinor ?? null,
      amount_capturable: terms.amountCapturableMinor ?? null,
      payment_id: terms.paymentId ?? null,
      order_id: terms.orderId ?? null,
    },
    observed_at: observedAt,
  };
}

function findingJson({ name, meaning, detail, openSince }: FindingExplanation) {
  return { class: name, meaning, detail: detailValueJson(detail), opened_at: openSince };
}

function transferJson(transfer: TransferExplanation) {
  return {
    id: transfer.id,
    at: transfer.at,
    effective_at: transfer.effectiveAt,
    leg: transfer.leg,
    number: transfer.number,
    currency: transfer.currency,
    amount: transfer.amountMinor,
    debit: { name: transfer.debit.name, meaning: transfer.debit.meaning },
    credit: { name: transfer.credit.name, meaning: transfer.credit.meaning },
    meaning: transfer.meaning,
    is_reversal: transfer.isTakenBack,
    event_id: transfer.eventId,
    event_number: transfer.inboxId,
    head_hash: transfer.headHash,
  };
}
