/** Makes the plan of a failing life smaller, as long as the life still fails in the same way. */
import { type LifeResult, live } from './life.ts';
import type { Plan, PlannedPayment } from './plan.ts';

/** Other delays that are tried for each smaller plan. */
const SALTS = 12;
const MAX_SECONDS = 20;

export interface Shrunk {
  readonly plan: Plan;
  readonly result: LifeResult;
}

export async function shrink(first: Shrunk): Promise<Shrunk> {
  let best = first;
  const endMs = Date.now() + MAX_SECONDS * 1_000;
  for (let isSmaller = true; isSmaller && Date.now() < endMs; ) {
    isSmaller = false;
    for (const candidate of smaller(best.plan)) {
      const found = await failing(candidate, best.result, endMs);
      if (!found) continue;
      best = found;
      isSmaller = true;
      break;
    }
  }
  return best;
}

async function failing(plan: Plan, like: LifeResult, endMs: number): Promise<Shrunk | undefined> {
  for (let salt = 0; salt < SALTS && Date.now() < endMs; salt += 1) {
    const salted = { ...plan, salt: plan.salt + salt };
    const result = await live(salted);
    if (result.problems.length > 0 && isAlike(result, like)) return { plan: salted, result };
  }
  return undefined;
}

/** The same rule is broken, about anything. */
function isAlike(a: LifeResult, b: LifeResult): boolean {
  const ruleOf = ({ problems: [first = ''] }: LifeResult) =>
    first.replace(/"[^"]*"|\S*[_\d{:]\S*|null/g, '');
  return a.phase === b.phase && ruleOf(a) === ruleOf(b);
}

/** Plans with a part left out, the largest parts first. */
function* smaller(plan: Plan): Generator<Plan> {
  if (plan.faults.length > 1) yield { ...plan, faults: [] };
  for (const payment of plan.payments) {
    if (plan.payments.length > 1) yield { ...plan, payments: without(plan.payments, payment) };
  }
  for (const fault of plan.faults) yield { ...plan, faults: without(plan.faults, fault) };
  if (plan.pace === 'rough') yield { ...plan, pace: 'calm' };
  for (const payment of plan.payments) {
    for (const shorter of shorterPayments(payment)) {
      const payments = plan.payments.map((one) => (one === payment ? shorter : one));
      yield { ...plan, payments };
    }
  }
}

/** A payment without one of its refunds, or without its last or first step. */
function* shorterPayments(payment: PlannedPayment): Generator<PlannedPayment> {
  const { steps } = payment;
  const refunds = new Set(steps.flatMap(({ does }) => ('number' in does ? does.number : [])));
  for (const number of refunds) {
    const kept = steps.filter(({ does }) => !('number' in does) || does.number !== number);
    yield { ...payment, steps: kept };
  }
  if (steps.length > 1) yield { ...payment, steps: steps.slice(0, -1) };
}

function without<T>(items: readonly T[], item: T): readonly T[] {
  return items.filter((one) => one !== item);
}
