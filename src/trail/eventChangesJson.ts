/** What an event changed, as JSON. */
import { alertJson } from '../representation/alert.ts';
import { changeJson } from '../representation/change.ts';
import { findingJson } from '../representation/finding.ts';
import { transferJson } from '../representation/transfer.ts';
import type { ChangedResource, EventChanges } from './eventChanges.ts';
import { noChangeText } from './eventChangesText.ts';

export function eventChangesJson(changes: EventChanges) {
  return {
    resources: changes.resources.map(resourceJson),
    changes: changes.changes.map(changeJson),
    transfers: changes.transfers.map(transferJson),
    order_webhooks: changes.orderWebhooks.map(({ number, id, content, state }) => ({
      number,
      message_id: id,
      type: content.kind === 'order' ? content.type : content.kind,
      state,
    })),
    findings_opened: changes.findingsOpened.map(findingJson),
    findings_closed: changes.findingsClosed.map(findingJson),
    alerts_opened: changes.alertsOpened.map(alertJson),
    alerts_resolved: changes.alertsResolved.map(alertJson),
    complete: changes.isComplete,
    nothing:
      changes.noChange === undefined
        ? null
        : { why: changes.noChange.why, text: noChangeText(changes.noChange) },
  };
}

function resourceJson({ kind, id, effect, snapshots }: ChangedResource) {
  return {
    kind,
    id,
    snapshots,
    previous_status: effect?.previousStatus ?? null,
    status: effect?.status ?? null,
    late: effect?.isLate ?? null,
  };
}
