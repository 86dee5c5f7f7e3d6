/** Facts as rules receive them. */
import type { ResourceFacts } from '../../../src/alerts/domain/facts.ts';
import { DAY_MS } from '../../../src/platform/time.ts';

export const NOW_MS = Date.parse('2026-11-21T12:00:00Z');

type Before = Partial<NonNullable<ResourceFacts['before']>> & { readonly status: string };

/** A resource of 65.40 USD of order 1001, created yesterday, and its term with it; `before` in short. */
export function facts(
  fields: Omit<Partial<ResourceFacts>, 'before'> &
    Pick<ResourceFacts, 'kind'> & { before?: Before },
): ResourceFacts {
  const { before, ...rest } = fields;
  return {
    id: `${fields.kind}_1`,
    status: undefined,
    stage: undefined,
    currency: 'USD',
    amountMinor: 6540,
    authorizedMinor: 0,
    capturedMinor: 0,
    createdMs: NOW_MS - DAY_MS,
    deadlineMs: undefined,
    orderId: '1001',
    paymentId: 'pay_1',
    reason: undefined,
    termDays: undefined,
    termSinceMs: fields.termDays === undefined ? undefined : (fields.createdMs ?? NOW_MS - DAY_MS),
    stageSinceMs: fields.kind === 'dispute' ? NOW_MS - DAY_MS : undefined,
    isOverdue: false,
    statusAhead: undefined,
    isHistory: false,
    ...rest,
    before: before && { stage: undefined, deadlineMs: undefined, termDays: undefined, ...before },
  };
}
