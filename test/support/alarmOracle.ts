/**
 * Computes which alerts may and must exist, from the sandbox's history alone. It shares no code with the
 * alert rules, so that one mistake cannot hide in both. Pure.
 *
 * Terms. *State*: a resource as it was for an interval. *Episode*: an interval in which a condition held
 * without interruption.
 *
 * 1. An alert is *false* if its condition never held.
 * 2. An alert is *missing* if its condition holds at the end and no alert was raised.
 * 3. An alert is a *duplicate* if it was opened more often than its condition has episodes.
 * 4. A watermark is ahead if the service's clock was set to a time before it. The sandbox has no
 *    watermarks: they are taken from full runs that began before the clock was set.
 */
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import { groupBy } from '../../src/platform/collections.ts';
import type { FaultsInput } from '../../src/sandbox/faults/settings.ts';

/** A resource as it was between two instants of the sandbox's clock. */
export interface State {
  readonly kind: ResourceKind;
  readonly id: string;
  /** The payment of a refund or dispute; a payment's own id. */
  readonly paymentId: string | null;
  readonly orderId: string | null;
  readonly status: string;
  readonly stage: string | null;
  readonly currency: string;
  readonly amount: number;
  readonly received: number;
  /** Milliseconds since 1970; `untilMs` is infinite for the current state. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface RaisedAlert {
  readonly rule: string;
  readonly subject: string;
  readonly variant: string;
}

/** A setting of the service's clock: the time it was set to, and when, by this machine's clock. */
export interface ClockSetting {
  readonly setMs: number;
  readonly shownMs: number;
}

/** A completed full run over a list, by this machine's clock. */
export interface ListRun {
  readonly stream: string;
  readonly startedMs: number;
  /** The watermark it wrote, by the service's clock. */
  readonly watermarkMs: number;
}

export interface Verdict {
  readonly falseAlerts: readonly RaisedAlert[];
  readonly missing: readonly string[];
  readonly duplicates: readonly string[];
}

/** Rules about one resource: the states in which their condition holds. */
const STATE_RULES: Readonly<Record<string, (state: State, variant: string) => boolean>> = {
  dispute_opened: ({ status, stage }, variant) =>
    status === 'opened' && (variant === '' || variant === stage),
  dispute_changed: ({ status, stage }, variant) => variant === `${stage}/${status}`,
  dispute_won: ({ status }) => status === 'won',
  dispute_lost: ({ status }) => LOST.has(status),
  dispute_cancelled: ({ status }) => status === 'cancelled',
  refund_failed: ({ status }) => status === 'failed',
  payout_failed: ({ status }) => FAILED_PAYOUT.has(status),
};

/** Rules about an order: whether their condition holds for its parts at one instant. */
const ORDER_RULES: Readonly<Record<string, (parts: readonly State[]) => boolean>> = {
  double_paid: (parts) => parts.filter((part) => isPaid(part, parts)).length > 1,
  dispute_and_refund: (parts) =>
    parts.some(
      ({ kind, status, stage, paymentId }) =>
        kind === 'dispute' &&
        stage !== 'pre_dispute' &&
        UNDECIDED_DISPUTE.has(status) &&
        parts.some(
          (other) =>
            other.kind === 'refund' &&
            other.paymentId === paymentId &&
            UNDECIDED_REFUND.has(other.status),
        ),
    ),
  over_refund: (parts) => perPayment(parts, ({ out, captured }) => out > captured),
  double_loss: (parts) =>
    perPayment(
      parts,
      ({ out, disputed, captured, parts: count }) =>
        disputed > 0 && count > 1 && out + disputed > captured,
    ),
};

const LOST = new Set(['lost', 'expired', 'accepted']);
const UNDECIDED_DISPUTE = new Set(['opened', 'challenged']);
const UNDECIDED_REFUND = new Set(['pending', 'review']);
const FAILED_PAYOUT = new Set(['failed', 'cancelled', 'expired', 'reversed', 'ineligible']);

/** Rules about the system that the injected faults may trigger; any other system alert is false. */
const SYSTEM_RULES: Readonly<Record<string, (faults: FaultsInput) => boolean>> = {
  signature_failures: ({ webhooks }) => (webhooks?.corrupt_signature ?? 0) > 0,
  missed_webhooks: ({ webhooks }) => (webhooks?.drop ?? 0) > 0,
  webhooks_stopped: ({ webhooks }) => (webhooks?.drop ?? 0) > 0,
  service_unreachable: ({ requests = [] }) => requests.length > 0,
};

export interface OracleInput {
  readonly states: readonly State[];
  readonly alerts: readonly RaisedAlert[];
  /** The faults that were active while the shop traded. */
  readonly faults: FaultsInput;
  /** Every setting of the service's clock, oldest first. */
  readonly clock: readonly ClockSetting[];
  readonly runs: readonly ListRun[];
}

export function evaluateAlerts(input: OracleInput): Verdict {
  const { alerts } = input;
  const oracle = createOracle(input);
  const raised = groupBy(alerts, keyOf);
  const twice = [...raised].flatMap(([key, own]) => {
    const [first] = own;
    const allowed = first ? Math.max(1, oracle.episodes(first)) : 1;
    return own.length > allowed
      ? [`${key}: opened ${own.length} times in ${allowed} episodes`]
      : [];
  });
  const named = new Set(alerts.map(({ rule, subject }) => `${rule} ${subject}`));
  return {
    falseAlerts: alerts.filter((alert) => oracle.episodes(alert) === 0),
    missing: oracle.expected().filter((expected) => !named.has(expected)),
    duplicates: twice,
  };
}

function keyOf({ rule, subject, variant }: RaisedAlert): string {
  return `${rule} ${subject} ${variant}`;
}

interface Oracle {
  /** Number of times that the alert's condition began to hold. */
  episodes(alert: RaisedAlert): number;
  /** Rule and subject of every condition that holds at the end. */
  expected(): readonly string[];
}

function createOracle({ states, faults, clock, runs }: OracleInput): Oracle {
  const bySubject = groupBy(states, ({ kind, id }) => `${kind}:${id}`);
  const byOrder = partsByOrder(states);
  return {
    episodes: ({ rule, subject, variant }) => {
      if (subject.startsWith('system:')) return SYSTEM_RULES[rule]?.(faults) ? 1 : 0;
      if (rule === 'watermark_ahead') {
        const ofList = runs.filter(({ stream }) => subject === `list:${stream}`);
        return episodesAhead(clock, ofList);
      }
      const own = bySubject.get(subject) ?? [];
      const isState = STATE_RULES[rule];
      if (isState) return episodesOf(own.filter((state) => isState(state, variant)));
      const isOrder = ORDER_RULES[rule];
      return isOrder ? orderEpisodes(byOrder.get(subject) ?? [], isOrder) : 0;
    },
    expected: () => [...expectedFromStates(states), ...expectedFromOrders(byOrder)],
  };
}

/**
 * The parts of an order under each key that an alert may use for it: a payment is an order of its own
 * until an observation names its order.
 */
function partsByOrder(states: readonly State[]): ReadonlyMap<string, readonly State[]> {
  const orders = new Map<string, State[]>();
  const orderOf = new Map(
    states.flatMap(({ kind, id, orderId }) =>
      kind === 'payment' && orderId !== null ? [[id, orderId] as const] : [],
    ),
  );
  const add = (subject: string, state: State): void => {
    const parts = orders.get(subject) ?? [];
    orders.set(subject, parts);
    parts.push(state);
  };
  for (const state of states) {
    if (state.paymentId === null) continue;
    add(`order:payment:${state.paymentId}`, state);
    const orderId = orderOf.get(state.paymentId);
    if (orderId !== undefined) add(`order:order:${orderId}`, state);
  }
  return orders;
}

function episodesOf(intervals: readonly Pick<State, 'fromMs' | 'untilMs'>[]): number {
  const sorted = intervals.toSorted((one, other) => one.fromMs - other.fromMs);
  return sorted.filter((state, index) => index === 0 || sorted[index - 1]?.untilMs !== state.fromMs)
    .length;
}

function orderEpisodes(
  parts: readonly State[],
  isShown: (parts: readonly State[]) => boolean,
): number {
  const instants = [...new Set(parts.map(({ fromMs }) => fromMs))].toSorted((a, b) => a - b);
  const shown = instants.map((atMs) => isShown(partsAt(parts, atMs)));
  return shown.filter((isNow, index) => isNow && shown[index - 1] !== true).length;
}

function partsAt(parts: readonly State[], atMs: number): readonly State[] {
  return parts.filter(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
}

/** Number of times that the clock was set to a time before a watermark written since the previous setting. */
function episodesAhead(clock: readonly ClockSetting[], runs: readonly ListRun[]): number {
  return clock.filter(({ setMs, shownMs }, index) => {
    const sinceMs = clock[index - 1]?.setMs ?? Number.NEGATIVE_INFINITY;
    return runs.some(
      ({ startedMs, watermarkMs }) =>
        startedMs >= sinceMs && startedMs < setMs && watermarkMs > shownMs,
    );
  }).length;
}

/** A payment of which nothing is left after its refunds and lost disputes is paid no longer. */
function isPaid({ kind, id, status, currency, received }: State, parts: readonly State[]): boolean {
  if (kind !== 'payment' || status !== 'succeeded') return false;
  let left = received;
  for (const part of parts) {
    if (part.paymentId !== id || part.currency !== currency) continue;
    const isRefunded = part.kind === 'refund' && part.status === 'succeeded';
    const isLost = part.kind === 'dispute' && LOST.has(part.status) && part.stage !== 'pre_dispute';
    if (isRefunded || isLost) left -= part.amount;
  }
  return left > 0;
}

interface Sums {
  readonly captured: number;
  readonly out: number;
  readonly disputed: number;
  /** Refunds that did not fail, and disputes that were not won. */
  readonly parts: number;
}

function perPayment(parts: readonly State[], isShown: (sums: Sums) => boolean): boolean {
  const ofPayments = groupBy(parts, ({ paymentId, currency }) => `${paymentId} ${currency}`);
  return [...ofPayments.values()].some((own) => {
    const refunds = own.filter(({ kind, status }) => kind === 'refund' && status !== 'failed');
    const disputes = own.filter(
      ({ kind, status, stage }) =>
        kind === 'dispute' &&
        (UNDECIDED_DISPUTE.has(status) || LOST.has(status)) &&
        stage !== 'pre_dispute',
    );
    const sum = (states: readonly State[]) =>
      states.reduce((total, { amount }) => total + amount, 0);
    return isShown({
      captured: own.reduce((total, { received }) => total + received, 0),
      out: sum(refunds),
      disputed: sum(disputes),
      parts: refunds.length + disputes.length,
    });
  });
}

/** The alerts that must have been raised for the states that hold at the end. */
function expectedFromStates(states: readonly State[]): readonly string[] {
  return states
    .filter(({ untilMs }) => untilMs === Number.POSITIVE_INFINITY)
    .flatMap((state) => {
      const rule = expectedRule(state);
      return rule === undefined ? [] : [`${rule} ${state.kind}:${state.id}`];
    });
}

function expectedRule({ kind, status }: State): string | undefined {
  switch (kind) {
    case 'dispute':
      if (LOST.has(status)) return 'dispute_lost';
      return { opened: 'dispute_opened', won: 'dispute_won', cancelled: 'dispute_cancelled' }[
        status
      ];
    case 'refund':
      return status === 'failed' ? 'refund_failed' : undefined;
    case 'payout':
      return FAILED_PAYOUT.has(status) ? 'payout_failed' : undefined;
    case 'payment':
      return undefined;
  }
}

function expectedFromOrders(byOrder: ReadonlyMap<string, readonly State[]>): readonly string[] {
  return [...byOrder].flatMap(([subject, parts]) => {
    // The payment's own key was used only until the order was known.
    const isAlias = subject.startsWith('order:payment:') && parts.some(({ orderId }) => orderId);
    if (isAlias) return [];
    const now = parts.filter(({ untilMs }) => untilMs === Number.POSITIVE_INFINITY);
    // Evaluated only once every payment is final.
    if (now.some(({ kind, status }) => kind === 'payment' && !FINAL_PAYMENT.has(status))) return [];
    return Object.entries(ORDER_RULES)
      .filter(([, isShown]) => isShown(now))
      .map(([rule]) => `${rule} ${subject}`);
  });
}

const FINAL_PAYMENT = new Set([
  'succeeded',
  'failed',
  'cancelled',
  'cancelled_post_capture',
  'partially_captured',
  'expired',
]);
