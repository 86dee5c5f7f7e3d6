/**
 * The plan of a life: what customers do, and what goes wrong, drawn from the seed. A plan is data, so that parts
 * of a failing one can be left out (shrink.ts).
 */
import { integer, pick, type Random, randomStream } from './random.ts';

export interface Plan {
  readonly seed: number;
  /** Draws other delays for the same plan. */
  readonly salt: number;
  readonly payments: readonly PlannedPayment[];
  readonly faults: readonly Fault[];
  /** Delays between the instants of a statement: `calm` under 2 ms, `rough` now and then half a second. */
  readonly pace: 'calm' | 'rough';
}

export interface PlannedPayment {
  readonly name: string;
  /** Undefined: the shop names no order. */
  readonly order: string | undefined;
  readonly amountMinor: number;
  /** What happens, each some time after the one before. */
  readonly steps: readonly PlannedStep[];
}

export interface PlannedStep {
  /** Since the beginning of the life. */
  readonly atMs: number;
  readonly does:
    | {
        readonly name:
          | 'begins'
          | 'fails'
          | 'is authorized'
          | 'succeeds'
          | 'is captured'
          | 'is voided';
      }
    /** `number` of the refund of this payment. */
    | { readonly name: 'is refunded'; readonly number: number; readonly amountMinor: number }
    | { readonly name: 'refund succeeds' | 'refund fails'; readonly number: number };
}

export const ROLES = ['receiver', 'events', 'scheduler', 'alerts'] as const;
export type Role = (typeof ROLES)[number];
/** Several processes of each role, as during a deployment. */
export const PROCESSES: Readonly<Record<Role, number>> = {
  receiver: 2,
  events: 3,
  scheduler: 2,
  alerts: 2,
};

export type Fault = { readonly atMs: number } & (
  | {
      readonly name: 'kill';
      readonly role: Role;
      readonly process: number;
      readonly downMs: number;
    }
  | { readonly name: 'connections lost'; readonly role: Role; readonly process: number }
  | { readonly name: 'database restarts'; readonly forMs: number }
  | { readonly name: 'queue loses its jobs' | 'locks of jobs run out' }
  | { readonly name: 'queue unreachable'; readonly forMs: number }
  | { readonly name: 'service fails' | 'service is stale'; readonly forMs: number }
  | {
      readonly name:
        | 'webhooks lost'
        | 'webhooks twice'
        | 'webhooks late'
        | 'replies to webhooks lost'
        | 'channel fails';
      readonly forMs: number;
    }
);

/** Faults and customers end then, and everything must converge. */
export const CHAOS_MS = 60_000;

const SPANS = [
  ...(['queue unreachable', 'service fails', 'service is stale', 'webhooks lost'] as const),
  ...(['webhooks twice', 'webhooks late', 'replies to webhooks lost', 'channel fails'] as const),
];

export function drawPlan(seed: number): Plan {
  const random = randomStream(seed, 'plan');
  const orders = integer(random, 1, 3);
  // In a burst, customers act within milliseconds, so that events of one order are applied at the same time.
  const isBurst = random() < 0.5;
  const payments = Array.from({ length: integer(random, 1, 6) }, (_, place) => {
    const atMs = isBurst ? integer(random, 0, 30) : integer(random, 0, 20_000);
    const pauseMs = pick(random, isBurst ? [0, 10, 40] : [0, 20, 2_000, 15_000]);
    return drawPayment(random, { name: `pay_${place + 1}`, orders, atMs, pauseMs });
  });
  const faults = Array.from({ length: integer(random, 0, 7) }, () => drawFault(random));
  return {
    seed,
    salt: 0,
    payments,
    pace: random() < 0.6 ? 'calm' : 'rough',
    faults: faults.sort((a, b) => a.atMs - b.atMs),
  };
}

const PATHS = [
  ['begins', 'succeeds'],
  ['begins', 'succeeds'],
  ['succeeds'],
  ['begins', 'fails'],
  ['fails', 'succeeds'],
  ['is authorized', 'is captured'],
  ['is authorized', 'is voided'],
  // The policy captures it.
  ['is authorized'],
] as const;

interface Drawn {
  readonly name: string;
  readonly orders: number;
  /** When its first step can be. */
  readonly atMs: number;
  /** Between two steps, at most. */
  readonly pauseMs: number;
}

function drawPayment(
  random: Random,
  { name, orders, atMs: fromMs, pauseMs }: Drawn,
): PlannedPayment {
  const amountMinor = integer(random, 100, 99_999);
  const order = random() < 0.8 ? `ord_${integer(random, 1, orders)}` : undefined;
  let atMs = fromMs;
  const next = (): number => {
    atMs += integer(random, 0, pauseMs);
    return Math.min(atMs, CHAOS_MS);
  };
  const path = pick(random, PATHS);
  const steps: PlannedStep[] = path.map((step) => ({ atMs: next(), does: { name: step } }));
  if (path.at(-1) !== 'succeeds' && path.at(-1) !== 'is captured') {
    return { name, order, amountMinor, steps };
  }
  const refunds = integer(random, 0, 3);
  for (let number = 1; number <= refunds; number += 1) {
    const refunded = Math.floor(amountMinor / (refunds + 1));
    steps.push({ atMs: next(), does: { name: 'is refunded', number, amountMinor: refunded } });
    const fate = pick(random, ['succeeds', 'fails', 'late'] as const);
    if (fate !== 'fails') steps.push({ atMs: next(), does: { name: 'refund succeeds', number } });
    if (fate !== 'succeeds') steps.push({ atMs: next(), does: { name: 'refund fails', number } });
  }
  return { name, order, amountMinor, steps };
}

function drawFault(random: Random): Fault {
  const atMs = integer(random, 0, CHAOS_MS - 10_000);
  const forMs = integer(random, 100, 30_000);
  const role = pick(random, ROLES);
  const process = integer(random, 1, PROCESSES[role]);
  const kind = random();
  if (kind < 0.3) return { atMs, name: 'kill', role, process, downMs: integer(random, 10, 20_000) };
  if (kind < 0.4) return { atMs, name: 'connections lost', role, process };
  if (kind < 0.5) return { atMs, name: 'database restarts', forMs: integer(random, 50, 5_000) };
  if (kind < 0.6)
    return { atMs, name: pick(random, ['queue loses its jobs', 'locks of jobs run out']) };
  return { atMs, name: pick(random, SPANS), forMs };
}
