/**
 * What rules say of a resource that showed something new. Nearly all are ordinary, and of these they
 * say nothing: then nothing stands of them either, and no statement is spent on finding that out.
 */
import type { Settled } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { holdEndAlerts } from './authorization.ts';
import { disputeAlerts } from './dispute.ts';
import { overdueAlerts } from './overdue.ts';
import { payoutAlerts } from './payout.ts';
import { refundAlerts } from './refund.ts';

/** @returns nothing where nothing can stand or have stood */
export function resourceAlerts(facts: ResourceFacts, nowMs: number): readonly Settled[] {
  const told = isLongPast(facts, nowMs) ? { ...facts, isHistory: true } : facts;
  return [kindAlerts(told, nowMs) ?? [], overdueAlerts(told, nowMs) ?? []].flat();
}

function kindAlerts(facts: ResourceFacts, nowMs: number): Settled | undefined {
  switch (facts.kind) {
    case 'payment':
      return holdEndAlerts(facts);
    case 'refund':
      return refundAlerts(facts);
    case 'dispute':
      return disputeAlerts(facts, nowMs);
    case 'payout':
      return payoutAlerts(facts);
  }
}

/** As far as every night's comparison looks back: what is younger was lost on its way, not imported. */
const LONG_PAST_MS = 8 * 24 * 60 * 60_000;

/** Something that is first heard of long after it came to its end. */
function isLongPast({ before, versionMs, createdMs }: ResourceFacts, nowMs: number): boolean {
  const changedMs = versionMs ?? createdMs;
  return before === undefined && changedMs !== undefined && nowMs - changedMs > LONG_PAST_MS;
}
