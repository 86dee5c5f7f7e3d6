/**
 * Alerts about a resource with a new observation. Almost all resources have none and never had any; for
 * these the rules return nothing, so that no statement is run.
 */
import type { SubjectAlerts } from '../alert.ts';
import type { ResourceFacts } from '../facts.ts';
import { holdEndAlerts } from './authorization.ts';
import { disputeAlerts } from './dispute.ts';
import { overdueAlerts } from './overdue.ts';
import { payoutAlerts } from './payout.ts';
import { refundAlerts } from './refund.ts';

/** @returns nothing if the resource cannot have an alert, open or to be opened */
export function resourceAlerts(facts: ResourceFacts, nowMs: number): readonly SubjectAlerts[] {
  return [kindAlerts(facts, nowMs) ?? [], overdueAlerts(facts, nowMs) ?? []].flat();
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
