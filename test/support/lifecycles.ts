/**
 * A small payment service that lives one resource at a time: legal lives of all four kinds, told in
 * bodies as the wire carries them, with the books in which each must end. It shares no rule with the
 * ledger: the lives, the ends and the balances are written from the contract alone.
 */
import fc from 'fast-check';
import type { ResourceKind } from '../../src/contract/resources/index.ts';

/** An object as an event or a retrieve carries it. */
export type Wire = Readonly<Record<string, unknown>>;

/** Balances by account, in minor units; accounts at zero are left out. */
export type Books = Readonly<Record<string, bigint>>;

export interface Life {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly currency: string;
  /** What the service tells on the way. Some bodies carry less than others. */
  readonly bodies: readonly Wire[];
  /** How it stands in the end, whole, as a retrieve answers. */
  readonly truth: Wire;
  /** Payments: what was captured in the end; otherwise 0. */
  readonly captured: number;
  readonly books: Books;
}

export interface LifeOptions {
  readonly id: string;
  readonly orderId?: string;
  /** Refunds and disputes: their payment. */
  readonly paymentId?: string;
  readonly amounts?: readonly number[];
}

const AMOUNTS = [100, 1, 0, 6540, Number.MAX_SAFE_INTEGER];
const START_MS = Date.UTC(2026, 10, 1);

/** Turns numbers into choices; used up, it takes the first of everything, so shrinking simplifies. */
function choosing(numbers: readonly number[]) {
  let place = 0;
  const next = (below: number): number => {
    place += 1;
    return (numbers[place - 1] ?? 0) % below;
  };
  return {
    pick: <Item>(items: readonly [Item, ...Item[]]): Item => items[next(items.length)] ?? items[0],
    among: (items: readonly number[]): number => items[next(items.length)] ?? 0,
    flip: (): boolean => next(2) === 1,
    /** A part of a whole: at least 1 where that leaves something, less than all of it. */
    part: (whole: number): number =>
      Math.min(whole, 1 + next(Math.max(1, Math.min(whole, 1000) - 1))),
  };
}
type Choices = ReturnType<typeof choosing>;

/** How a service dates its bodies. */
type Dating = 'always' | 'never' | 'sometimes';

/** Tells a life: keeps time, dates bodies and sometimes leaves fields out. */
function narrating(choices: Choices, common: Wire) {
  const dating = choices.pick<Dating>(['always', 'never', 'sometimes']);
  const bodies: Wire[] = [];
  let clockMs = START_MS;
  let last: Wire = {};
  const dated = (fields: Wire): Wire => ({ ...common, ...fields, modified_at: instant(clockMs) });
  return {
    /** Whether every step must be told apart without a date. */
    mustClimb: dating === 'never',
    /** The service's clock goes on, or is set back where only the stage tells what is later. */
    wait: (seconds: number) => {
      clockMs += seconds * 1000;
    },
    /**
     * Tells how it stands, sometimes in two bodies of one moment that do not say the same: two
     * events of one change.
     * @param optional fields that a body may lack
     */
    tell: (fields: Wire, optional: readonly string[] = []) => {
      last = fields;
      const times = choices.pick([1, 1, 2]);
      for (let time = 0; time < times; time += 1) {
        const left = new Set(optional.filter(() => choices.flip()));
        const isDated = dating === 'always' || (dating === 'sometimes' && choices.flip());
        const body = Object.entries(dated(fields)).filter(
          ([name]) => !left.has(name) && (isDated || name !== 'modified_at'),
        );
        bodies.push(Object.fromEntries(body));
      }
    },
    end: () => {
      const truth = dated(last);
      const { modified_at: _date, ...undated } = truth;
      return { bodies, truth: dating === 'never' ? undated : truth };
    },
  };
}
type Narrator = ReturnType<typeof narrating>;

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** How a payment stands at the service. */
interface Standing {
  readonly status: string;
  readonly held: number;
  readonly captured: number;
}

const PAYMENT_OPTIONAL = ['amount_received', 'amount_capturable', 'capture_method', 'metadata'];

function paymentLife(options: LifeOptions, choices: Choices): Life {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  // The last is a method that only a later version of the service has.
  const method = choices.pick(['automatic', 'manual', 'manual_multiple', 'scheduled']);
  const narrator = narrating(choices, {
    payment_id: options.id,
    amount,
    currency,
    capture_method: method,
    created: instant(START_MS),
    metadata: options.orderId === undefined ? {} : { order_id: options.orderId },
  });
  // Some services report the whole amount as received before it is, and take the word back.
  const isEarly = choices.flip();
  const early: Readonly<Record<string, Wire>> = isEarly
    ? {
        processing: { amount_received: amount },
        failed: { amount_received: null, amount_capturable: amount },
      }
    : {};
  const tell = (standing: Standing): Standing => {
    // A hold without figures would be counted by the amount: legal, but no service knows less of a
    // hold than of anything else.
    const optional = standing.held > 0 ? ['capture_method', 'metadata'] : PAYMENT_OPTIONAL;
    narrator.tell(
      {
        status: standing.status,
        amount_received: standing.captured,
        amount_capturable: standing.held,
        ...early[standing.status],
      },
      optional,
    );
    return standing;
  };
  const begun = beginPayment(tell, narrator, choices);
  const done =
    begun ??
    (method === 'automatic' ? takeAtOnce : holdAndCapture)(tell, narrator, {
      amount,
      isMultiple: method === 'manual_multiple',
      choices,
    });
  return {
    kind: 'payment',
    id: options.id,
    currency,
    ...narrator.end(),
    captured: done.captured,
    books: paymentBooks(done),
  };
}

/** Up to the point where money is held or taken; a life may end before. */
function beginPayment(
  tell: (standing: Standing) => Standing,
  narrator: Narrator,
  choices: Choices,
): Standing | undefined {
  let standing = tell({ status: 'requires_confirmation', held: 0, captured: 0 });
  narrator.wait(1);
  if (choices.flip()) standing = tell({ status: 'requires_customer_action', held: 0, captured: 0 });
  narrator.wait(1);
  standing = tell({ status: 'processing', held: 0, captured: 0 });
  narrator.wait(1);
  // A service that never dates what it says cannot make itself understood about another attempt.
  const attempts = narrator.mustClimb ? 0 : choices.pick([0, 1, 2]);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    tell({ status: 'failed', held: 0, captured: 0 });
    narrator.wait(60);
    standing = tell({ status: 'processing', held: 0, captured: 0 });
    narrator.wait(1);
  }
  return choices.pick([undefined, undefined, undefined, undefined, standing]);
}

interface PaymentPlan {
  readonly amount: number;
  readonly isMultiple: boolean;
  readonly choices: Choices;
}

function takeAtOnce(
  tell: (standing: Standing) => Standing,
  narrator: Narrator,
  { amount, choices }: PaymentPlan,
): Standing {
  const status = choices.pick(['succeeded', 'failed', 'cancelled']);
  if (status !== 'succeeded') return tell({ status, held: 0, captured: 0 });
  const captured = choices.pick([amount, amount, Math.ceil(amount / 2)]);
  const taken = tell({ status, held: 0, captured });
  return maybeVoid(taken, tell, narrator, choices);
}

function maybeVoid(
  standing: Standing,
  tell: (standing: Standing) => Standing,
  narrator: Narrator,
  choices: Choices,
): Standing {
  if (choices.pick([false, false, true])) {
    narrator.wait(3600);
    return tell({ ...standing, status: 'cancelled_post_capture' });
  }
  return standing;
}

function holdAndCapture(
  tell: (standing: Standing) => Standing,
  narrator: Narrator,
  { amount, isMultiple, choices }: PaymentPlan,
): Standing {
  let standing = tell({ status: 'requires_capture', held: amount, captured: 0 });
  const captures = isMultiple ? choices.pick([0, 1, 2, 3]) : 0;
  for (let capture = 0; capture < captures && standing.held > 1; capture += 1) {
    // Captures may fall within one tick of the service's clock.
    narrator.wait(choices.pick([0, 60]));
    const taken = choices.part(standing.held - 1);
    standing = tell({
      status: 'partially_captured_and_capturable',
      held: standing.held - taken,
      captured: standing.captured + taken,
    });
  }
  narrator.wait(60);
  const end = choices.pick(['open', 'all', 'some', 'expired', 'cancelled']);
  const { captured } = standing;
  switch (end) {
    case 'open':
      return standing;
    case 'all':
      return maybeVoid(
        tell({ status: 'succeeded', held: 0, captured: amount }),
        tell,
        narrator,
        choices,
      );
    case 'some': {
      const some = Math.max(captured, choices.part(amount));
      return maybeVoid(
        tell({ status: 'partially_captured', held: 0, captured: some }),
        tell,
        narrator,
        choices,
      );
    }
    default:
      return tell({ status: end, held: 0, captured });
  }
}

function paymentBooks({ status, held, captured }: Standing): Books {
  const kept = status === 'cancelled_post_capture' ? 0 : captured;
  return books({
    'psp.clearing': kept,
    'order.due': -kept,
    'memo.auth_open': held,
    'memo.auth_contra': -held,
  });
}

function refundLife(options: LifeOptions, choices: Choices): Life {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const narrator = narrating(choices, {
    refund_id: options.id,
    payment_id: options.paymentId ?? 'pay_of_refund',
    amount,
    currency,
    created: instant(START_MS),
  });
  const path = [...choices.pick(narrator.mustClimb ? CLIMBING_REFUNDS : REFUNDS)];
  tellPath(path, narrator, choices);
  const end = path.at(-1);
  return {
    kind: 'refund',
    id: options.id,
    currency,
    ...narrator.end(),
    captured: 0,
    books: books({
      'order.refunds': end === 'failed' ? 0 : amount,
      'refund.in_flight': end === 'pending' || end === 'review' ? -amount : 0,
      'psp.clearing': end === 'succeeded' ? -amount : 0,
    }),
  };
}

type Paths = readonly [readonly string[], ...(readonly string[])[]];

const CLIMBING_REFUNDS: Paths = [
  ['pending', 'succeeded'],
  ['pending'],
  ['pending', 'review'],
  ['succeeded'],
  ['pending', 'failed'],
  // Reported as paid back, and returned by the bank weeks later.
  ['pending', 'succeeded', 'failed'],
];
const REFUNDS: Paths = [
  ...CLIMBING_REFUNDS,
  ['pending', 'review', 'pending', 'succeeded'],
  ['pending', 'review', 'pending', 'failed'],
  ['pending', 'review', 'pending'],
];

const PAYOUTS: Paths = [
  ['initiated', 'success'],
  ['requires_creation', 'requires_payout_method_data', 'requires_confirmation'],
  ['requires_confirmation', 'requires_vendor_account_creation', 'requires_fulfillment'],
  ['requires_fulfillment', 'initiated', 'pending'],
  ['requires_confirmation', 'ineligible'],
  ['initiated', 'pending', 'success', 'reversed'],
  ['initiated', 'success', 'failed'],
  ['pending', 'failed'],
  ['requires_fulfillment', 'cancelled'],
  ['initiated', 'expired'],
];

function payoutLife(options: LifeOptions, choices: Choices): Life {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const narrator = narrating(choices, {
    payout_id: options.id,
    amount,
    currency,
    created: instant(START_MS),
  });
  const path = choices.pick(PAYOUTS);
  tellPath(path, narrator, choices);
  const end = path.at(-1) ?? '';
  const isMoving = ['initiated', 'pending'].includes(end);
  const isGone = isMoving || end === 'success';
  return {
    kind: 'payout',
    id: options.id,
    currency,
    ...narrator.end(),
    captured: 0,
    books: books({
      'psp.clearing': isGone ? -amount : 0,
      'payout.in_transit': isMoving ? amount : 0,
      'payout.paid': end === 'success' ? amount : 0,
    }),
  };
}

function tellPath(path: readonly string[], narrator: Narrator, choices: Choices): void {
  for (const status of path) {
    narrator.wait(choices.pick([1, 3600]));
    narrator.tell({ status });
  }
}

const STAGES = ['pre_dispute', 'dispute', 'pre_arbitration', 'arbitration'];

function disputeLife(options: LifeOptions, choices: Choices): Life {
  const currency = choices.pick(['USD', 'JPY', 'KWD']);
  const amount = choices.among(options.amounts ?? AMOUNTS);
  const narrator = narrating(choices, {
    dispute_id: options.id,
    payment_id: options.paymentId ?? 'pay_of_dispute',
    amount: String(amount),
    currency,
  });
  let end = '';
  let stage = '';
  const first = choices.pick([1, 0]);
  const stages = choices.pick([1, 2, 3]);
  for (stage of STAGES.slice(first, first + stages)) {
    // Stages are dated by the bank, whose clock is not the service's.
    narrator.wait(choices.pick([3600, -30]));
    const path = choices.pick<readonly string[]>([
      ['opened', 'won'],
      ['opened'],
      ['opened', 'challenged', 'lost'],
      ['opened', 'challenged'],
      ['opened', 'accepted'],
      ['opened', 'expired'],
      ['opened', 'cancelled'],
      ['challenged', 'won'],
    ]);
    for (end of path) {
      narrator.wait(1);
      narrator.tell({ dispute_status: `dispute_${end}`, dispute_stage: stage });
    }
  }
  const isQuestion = stage === 'pre_dispute';
  const isLost = !isQuestion && ['lost', 'accepted', 'expired'].includes(end);
  const isOpen = !isQuestion && ['opened', 'challenged'].includes(end);
  return {
    kind: 'dispute',
    id: options.id,
    currency,
    ...narrator.end(),
    captured: 0,
    books: books({
      'dispute.held': isOpen ? amount : 0,
      'loss.disputes': isLost ? amount : 0,
      'psp.clearing': isOpen || isLost ? -amount : 0,
    }),
  };
}

function books(amounts: Readonly<Record<string, number>>): Books {
  return Object.fromEntries(
    Object.entries(amounts)
      .filter(([, amount]) => amount !== 0)
      .map(([account, amount]) => [account, BigInt(amount)]),
  );
}

const LIFE_OF: Readonly<Record<ResourceKind, (options: LifeOptions, choices: Choices) => Life>> = {
  payment: paymentLife,
  refund: refundLife,
  dispute: disputeLife,
  payout: payoutLife,
};

/** Any legal life of one resource. */
export function anyLife(kind: ResourceKind, options: LifeOptions): fc.Arbitrary<Life> {
  return fc
    .array(fc.nat({ max: 0xffff }), { minLength: 0, maxLength: 60, size: 'max' })
    .map((numbers) => LIFE_OF[kind](options, choosing(numbers)));
}

/** Adds books up, by account and currency; accounts at zero are left out. */
export function addBooks(
  all: readonly { readonly currency: string; readonly books: Books }[],
): Books {
  const sums = new Map<string, bigint>();
  for (const { currency, books: own } of all) {
    for (const [account, amount] of Object.entries(own)) {
      const name = `${account} ${currency}`;
      sums.set(name, (sums.get(name) ?? 0n) + amount);
    }
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).sort());
}
