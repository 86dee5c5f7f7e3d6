/**
 * Explains the status of an order: for each currency the rule of order.ts that applied and the parts
 * that made it apply, then the currency that determined the status of the order.
 */
import { formatMoney } from '../../contract/money.ts';
import type { OrderStatus } from '../../webhooks/orderStatuses.ts';
import { explainFinding, explainPart } from './explain.ts';
import type {
  FindingExplanation,
  OpenFinding,
  PartExplanation,
  PartRecord,
} from './explanation.ts';
import {
  deriveOrder,
  type OrderAmount,
  type OrderPart,
  type OrderTotals,
  PART_AMOUNTS,
  paymentStatusWord,
} from './order.ts';
import type { ResourceRef } from './snapshot.ts';

/** Everything stored about one order. */
export interface OrderRecord {
  readonly orderKey: string;
  readonly orderId: string;
  readonly storedStatus: string;
  readonly movedTo: readonly string[];
  readonly openFindings: readonly OpenFinding[];
  readonly parts: readonly PartRecord[];
}

export interface CurrencyExplanation extends OrderTotals {
  readonly because: string;
  /** The parts that made the rule apply. */
  readonly decidedBy: readonly ResourceRef[];
  /** Parts that do not count, and why. */
  readonly notes: readonly string[];
}

export interface OrderExplanation {
  readonly orderKey: string;
  readonly orderId: string;
  readonly status: OrderStatus;
  readonly because: string;
  readonly movedTo: readonly string[];
  readonly currencies: readonly CurrencyExplanation[];
  readonly findings: readonly FindingExplanation[];
  readonly parts: readonly PartExplanation[];
  /** Differences between the stored order and its parts. */
  readonly discrepancies: readonly string[];
}

type ExplainedPart = ResourceRef & OrderPart;

/** Explains an order and all of its parts. */
export function explainOrder(record: OrderRecord): OrderExplanation {
  const parts = record.parts.map(explainPart);
  const orderParts = parts.map(toOrderPart);
  const { status, totals } = deriveOrder(orderParts);
  const currencies = totals.map((total) =>
    explainCurrency(
      total,
      orderParts.filter(({ currency }) => currency === total.currency),
    ),
  );
  const unpriced = orderParts.filter(({ currency }) => currency === undefined);
  return {
    orderKey: record.orderKey,
    orderId: record.orderId,
    status,
    because: whyOrder(status, currencies, unpriced),
    movedTo: record.movedTo,
    currencies,
    findings: record.openFindings.map(explainFinding),
    parts,
    discrepancies:
      record.storedStatus === status
        ? []
        : [`The stored status is ${record.storedStatus}, but its parts make it ${status}.`],
  };
}

function toOrderPart(part: PartExplanation): ExplainedPart {
  return {
    kind: part.kind,
    id: part.id,
    status: part.status ?? undefined,
    stage: part.stage ?? undefined,
    currency: part.currency ?? undefined,
    amountMinor: part.amountMinor ?? undefined,
    authorizedMinor: part.authorizedMinor,
    capturedMinor: part.capturedMinor,
  };
}

function whyOrder(
  status: OrderStatus,
  currencies: readonly CurrencyExplanation[],
  unpriced: readonly ExplainedPart[],
): string {
  if (currencies.length === 0 && unpriced.length === 0) {
    return 'It has no parts: its payments were moved to another order.';
  }
  const statuses = [
    ...currencies.map(({ currency, status: word }) => `${word} (${currency})`),
    ...unpriced.map(({ kind, id }) => `pending (${kind} ${id}, currency unknown)`),
  ];
  if (status === 'partially_refunded' && currencies.every((one) => one.status !== status)) {
    return `Of ${statuses.join(', ')}: captured money is left, so the order is ${status}.`;
  }
  if (statuses.length > 1) {
    return `Of ${statuses.join(', ')}, ${status} has precedence.`;
  }
  const [only] = currencies;
  return only
    ? `All its parts are in ${only.currency}, where its status is ${status}.`
    : 'Another resource mentions it, and Tallyhook has not received it yet. So it is pending.';
}

function explainCurrency(total: OrderTotals, parts: readonly ExplainedPart[]): CurrencyExplanation {
  const rule = AMOUNT_RULES.find(({ statuses }) => statuses.includes(total.status));
  const notes = parts.flatMap(noteOn);
  if (!rule) return { ...total, ...whyPayments(total.status, parts), notes };
  const decidedBy = parts.filter((part) => PART_AMOUNTS[rule.amount](part) > 0);
  const because = `${rule.because(total)} (${decidedBy.map(nameOf).join(', ')})`;
  return {
    ...total,
    because: `${because}; this has precedence over the status of its payments.`,
    decidedBy: decidedBy.map(toRef),
    notes,
  };
}

interface AmountRule {
  readonly statuses: readonly OrderStatus[];
  readonly amount: OrderAmount;
  readonly because: (total: OrderTotals) => string;
}

/** The rules about amounts, in order of precedence. */
const AMOUNT_RULES: readonly AmountRule[] = [
  {
    statuses: ['charged_back'],
    amount: 'chargedBackMinor',
    because: ({ chargedBackMinor, currency }) =>
      `${formatMoney(chargedBackMinor, currency)} was lost to disputes`,
  },
  {
    statuses: ['disputed'],
    amount: 'disputedMinor',
    because: ({ disputedMinor, currency }) =>
      `${formatMoney(disputedMinor, currency)} is under dispute and undecided`,
  },
  {
    statuses: ['refunded', 'partially_refunded'],
    amount: 'refundedMinor',
    because: ({ refundedMinor, capturedMinor, currency }) =>
      `${formatMoney(refundedMinor, currency)} of ${formatMoney(capturedMinor, currency)} captured was refunded`,
  },
];

function whyPayments(
  status: OrderStatus,
  parts: readonly ExplainedPart[],
): Pick<CurrencyExplanation, 'because' | 'decidedBy'> {
  const payments = parts.filter(({ kind }) => kind === 'payment');
  const decidedBy = payments.filter((part) => paymentStatusWord(part) === status);
  const behind = payments.filter((part) => paymentStatusWord(part) !== status);
  if (payments.length === 0) {
    return {
      because:
        'There is no payment in this currency, and its refunds and disputes have moved no money yet.',
      decidedBy: [],
    };
  }
  const others = behind.map((part) => `${paymentStatusWord(part)} (${nameOf(part)})`);
  const precedence = others.length > 0 ? ` It has precedence over ${others.join(', ')}.` : '';
  return {
    because: `${decidedBy.map(nameOf).join(', ')} makes the order ${status}.${precedence}`,
    decidedBy: decidedBy.map(toRef),
  };
}

/** Notes on parts that a reader would expect to count. */
function noteOn(part: ExplainedPart): readonly string[] {
  if (part.kind === 'dispute' && part.stage === 'pre_dispute') {
    return [
      `${nameOf(part)} is at the stage pre_dispute: an inquiry by the bank that has moved no money.`,
    ];
  }
  if (part.kind === 'refund' && part.status !== 'succeeded') {
    return [`${nameOf(part)}: only a successful refund changes the status.`];
  }
  return [];
}

function nameOf({ kind, id, status }: ExplainedPart): string {
  return `${kind} ${id} ${status ?? 'not seen yet'}`;
}

function toRef({ kind, id }: ExplainedPart): ResourceRef {
  return { kind, id };
}
