/**
 * The rules of the journal. Terms: a *leg* is a named series of transfers of one resource in one
 * currency; its *target* is the total that it should have moved by now; its *posted* amount is the total
 * that it has moved.
 *
 * 1. A target is a function of the merged state alone. In a currency that the resource no longer has,
 *    targets are zero.
 * 2. The transaction that changes the state posts target minus posted. A negative difference is posted
 *    with the accounts swapped. So a late refund failure, a dispute won after it was lost and a reversed
 *    payout need no code of their own. effectiveTimes.ts divides the difference by when money moved.
 * 3. A snapshot with which the state is not complete enough to post (`posts`) posts nothing, and posted
 *    amounts stay.
 * 4. Every transfer debits one account and credits another by the same amount, so the journal always
 *    balances.
 */
import { RESOURCE_KINDS } from '../../contract/resources/index.ts';
import { FINAL_STATUSES } from '../../contract/statuses.ts';
import type { ResourceState } from './merge.ts';

export const ACCOUNTS = {
  'psp.clearing': 'held for us by the service',
  'order.due': 'paid for orders, minus captures that were voided later',
  'order.refunds': 'refunded, or requested to be',
  'refund.in_flight': 'refunds requested and not yet settled or failed',
  'memo.auth_open': 'holds that can still be captured; no money has moved',
  'memo.auth_contra': 'the other side of memo.auth_open',
  'dispute.held': 'withheld by the service until a dispute is decided',
  'loss.disputes': 'lost to disputes',
  'payout.in_transit': 'on its way to a payee',
  'payout.paid': 'arrived at a payee',
  'fees.service': 'fees of the service, by its settlement reports',
  'service.adjustments':
    'what reports and people corrected: reserves, rounding, differences written off',
  'bank.account': 'arrived from the service at the bank, by bank statements',
} as const;
export type Account = keyof typeof ACCOUNTS;
export const ACCOUNT_NAMES = Object.keys(ACCOUNTS) as readonly Account[];

export interface Leg {
  readonly debit: Account;
  readonly credit: Account;
}

/** Lines of settlement reports and bank statements post as well; lines.ts has their rules. */
export const LINE_KINDS = ['settlement_line', 'bank_line'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** What a transfer can be of. */
export const JOURNAL_KINDS = [...RESOURCE_KINDS, ...LINE_KINDS] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/** Names what a transfer is of: a resource, or a line by its number. */
export interface JournalRef {
  readonly kind: JournalKind;
  readonly id: string;
}

export const LEGS = {
  payment: {
    auth_opened: { debit: 'memo.auth_open', credit: 'memo.auth_contra' },
    auth_consumed: { debit: 'memo.auth_contra', credit: 'memo.auth_open' },
    auth_released: { debit: 'memo.auth_contra', credit: 'memo.auth_open' },
    captured: { debit: 'psp.clearing', credit: 'order.due' },
    capture_voided: { debit: 'order.due', credit: 'psp.clearing' },
  },
  refund: {
    requested: { debit: 'order.refunds', credit: 'refund.in_flight' },
    settled: { debit: 'refund.in_flight', credit: 'psp.clearing' },
    released: { debit: 'refund.in_flight', credit: 'order.refunds' },
  },
  dispute: {
    held: { debit: 'dispute.held', credit: 'psp.clearing' },
    written_off: { debit: 'loss.disputes', credit: 'dispute.held' },
  },
  payout: {
    initiated: { debit: 'payout.in_transit', credit: 'psp.clearing' },
    delivered: { debit: 'payout.paid', credit: 'payout.in_transit' },
    returned: { debit: 'psp.clearing', credit: 'payout.in_transit' },
    reversed: { debit: 'psp.clearing', credit: 'payout.paid' },
  },
  settlement_line: {
    fee_charged: { debit: 'fees.service', credit: 'psp.clearing' },
    fee_returned: { debit: 'psp.clearing', credit: 'fees.service' },
    adjusted_up: { debit: 'psp.clearing', credit: 'service.adjustments' },
    adjusted_down: { debit: 'service.adjustments', credit: 'psp.clearing' },
  },
  bank_line: {
    bank_received: { debit: 'bank.account', credit: 'psp.clearing' },
    bank_withdrawn: { debit: 'psp.clearing', credit: 'bank.account' },
    difference_up: { debit: 'psp.clearing', credit: 'service.adjustments' },
    difference_down: { debit: 'service.adjustments', credit: 'psp.clearing' },
  },
} as const satisfies Record<JournalKind, Record<string, Leg>>;

/** The legs that move money to or from an account. */
export function legsOf(account: Account): readonly string[] {
  return Object.values(LEGS).flatMap((legs) =>
    Object.entries<Leg>(legs)
      .filter(([, { debit, credit }]) => debit === account || credit === account)
      .map(([leg]) => leg),
  );
}

/** Whether a transfer takes back what its leg moved before. */
export function isTakenBack({
  kind,
  leg,
  debit,
}: {
  readonly kind: JournalKind;
  readonly leg: string;
  readonly debit: string;
}): boolean {
  return Object.entries<Leg>(LEGS[kind]).some(([name, own]) => name === leg && own.debit !== debit);
}

/** Cumulative amounts by leg, in minor units of one currency. */
export type Targets = Readonly<Record<string, number>>;

/** The fields of a state that determine the targets. */
export type MoneyState = Pick<
  ResourceState,
  'ref' | 'status' | 'stage' | 'amountMinor' | 'authorizedMinor' | 'capturedMinor'
>;

/** The targets of a resource's legs (invariant 1). */
export function targetsOf(state: MoneyState): Targets {
  switch (state.ref.kind) {
    case 'payment':
      return paymentTargets(state);
    case 'refund':
      return refundTargets(state);
    case 'dispute':
      return disputeTargets(state);
    case 'payout':
      return payoutTargets(state);
  }
}

function paymentTargets({ status, authorizedMinor, capturedMinor }: MoneyState): Targets {
  const isFinal = FINAL_STATUSES.payment.has(status ?? '');
  return {
    auth_opened: authorizedMinor,
    auth_consumed: Math.min(authorizedMinor, capturedMinor),
    auth_released: isFinal ? Math.max(0, authorizedMinor - capturedMinor) : 0,
    captured: capturedMinor,
    capture_voided: status === 'cancelled_post_capture' ? capturedMinor : 0,
  };
}

function refundTargets({ status, amountMinor = 0 }: MoneyState): Targets {
  return {
    requested: amountMinor,
    settled: status === 'succeeded' ? amountMinor : 0,
    released: status === 'failed' ? amountMinor : 0,
  };
}

/** At the stage `pre_dispute` a dispute is an inquiry, and no money is withheld. */
function disputeTargets({ status = '', stage, amountMinor = 0 }: MoneyState): Targets {
  const moves = stage !== 'pre_dispute';
  const isLost = moves && ['lost', 'accepted', 'expired'].includes(status);
  const isOpen = moves && ['opened', 'challenged'].includes(status);
  return {
    held: isOpen || isLost ? amountMinor : 0,
    written_off: isLost ? amountMinor : 0,
  };
}

function payoutTargets({ status = '', amountMinor = 0 }: MoneyState): Targets {
  const isUnderWay = !status.startsWith('requires_');
  return {
    initiated: isUnderWay ? amountMinor : 0,
    delivered: ['success', 'reversed'].includes(status) ? amountMinor : 0,
    returned: ['failed', 'cancelled', 'expired', 'ineligible'].includes(status) ? amountMinor : 0,
    reversed: status === 'reversed' ? amountMinor : 0,
  };
}

/** The position of a leg: the number of its last transfer and the total that it has moved. */
export interface PostedLeg {
  readonly seq: number;
  readonly cumulativeMinor: number;
}

/** Posted legs of one resource: by currency, then by leg. */
export type Posted = Readonly<Record<string, Readonly<Record<string, PostedLeg>>>>;

/** A journal row to insert. */
export interface Transfer {
  readonly leg: string;
  readonly currency: string;
  readonly seq: number;
  readonly debit: Account;
  readonly credit: Account;
  readonly amountMinor: number;
  readonly previousMinor: number;
  readonly cumulativeMinor: number;
}

export interface LegTarget {
  readonly currency: string;
  readonly leg: string;
  readonly targetMinor: number;
}

/** The targets of all legs in all currencies (invariant 1); none while the state does not post. */
export function targetsIn(
  state: MoneyState & { readonly posts: boolean; readonly currency?: string | undefined },
  posted: Posted,
): readonly LegTarget[] {
  const { currency: current, ref } = state;
  if (!state.posts || current === undefined) return [];
  const targets = targetsOf(state);
  return [...new Set([...Object.keys(posted), current])].flatMap((currency) =>
    Object.keys(LEGS[ref.kind]).map((leg) => ({
      currency,
      leg,
      targetMinor: currency === current ? (targets[leg] ?? 0) : 0,
    })),
  );
}

export interface LegPosition {
  readonly leg: string;
  readonly currency: string;
  readonly accounts: Leg;
  readonly last: PostedLeg;
}

/**
 * The next transfer of a leg (invariant 2).
 * @param movedMinor negative: the leg takes back what it moved; never 0
 */
export function transferBy(
  movedMinor: number,
  { leg, currency, accounts, last }: LegPosition,
): Transfer {
  const [debit, credit] =
    movedMinor > 0 ? [accounts.debit, accounts.credit] : [accounts.credit, accounts.debit];
  return {
    leg,
    currency,
    seq: last.seq + 1,
    debit,
    credit,
    amountMinor: Math.abs(movedMinor),
    previousMinor: last.cumulativeMinor,
    cumulativeMinor: last.cumulativeMinor + movedMinor,
  };
}

/** The posted amounts after `transfers`. */
export function postedAfter(posted: Posted, transfers: readonly Transfer[]): Posted {
  const after: Record<string, Posted[string]> = { ...posted };
  for (const { currency, leg, seq, cumulativeMinor } of transfers) {
    after[currency] = { ...after[currency], [leg]: { seq, cumulativeMinor } };
  }
  return after;
}
