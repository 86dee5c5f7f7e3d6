/**
 * Alerts about a resource with a new observation. Almost all resources have none and never had any; for
 * these the rules return nothing, so that no statement is run.
 */

import { DAY_MS } from '../../../platform/time.ts';
import type { SubjectAlerts } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { holdEndAlerts } from './authorization.ts';
import { disputeAlerts } from './dispute.ts';
import { overdueAlerts } from './overdue.ts';
import { payoutAlerts } from './payout.ts';
import { refundAlerts } from './refund.ts';

/** @returns nothing if the resource cannot have an alert, open or to be opened */
export function resourceAlerts(facts: ResourceFacts, nowMs: number): readonly SubjectAlerts[] {
  const known = isLongPast(facts, nowMs) ? { ...facts, isHistory: true } : facts;
  return [kindAlerts(known, nowMs) ?? [], overdueAlerts(known, nowMs) ?? []].flat();
}

function kindAlerts(facts: ResourceFacts, nowMs: number): SubjectAlerts | undefined {
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

/** The window of the nightly comparison: a younger change was missed, not imported. */
const LONG_PAST_MS = 8 * DAY_MS;

/**
 * Its first observation comes long after its last change. Where the service gives no time of it, an event is
 * sent when something changes; the creation may be long before.
 */
function isLongPast(facts: ResourceFacts, nowMs: number): boolean {
  const { before, versionMs, reportedMs, createdMs } = facts;
  const changedMs = versionMs ?? reportedMs ?? createdMs ?? nowMs;
  return before === undefined && nowMs - changedMs > LONG_PAST_MS;
}
