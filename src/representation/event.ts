/** An event of the inbox as JSON. */
import type { EventDetail, EventSummary } from '../ledger/read/store/parts.ts';
import { detailValueJson } from './detail.ts';

export function eventJson(row: EventSummary) {
  return {
    number: row.id,
    event_id: row.eventId,
    event_type: row.eventType,
    merchant_id: row.merchantId,
    state: row.state,
    attempts: row.attempts,
    error: row.error,
    received_at: row.receivedAt.toISOString(),
  };
}

/** An event with its body, which holds personal data: only for the command line. */
export function eventWithBodyJson(row: EventSummary, detail: EventDetail) {
  return {
    ...eventJson(row),
    body: detail.body.toString('utf8'),
    findings: detail.findings.map(({ class: name, state, detail: seen }) => ({
      class: name,
      state,
      detail: detailValueJson(seen),
    })),
    variants: detail.variants.map((variant) => variant.toString('utf8')),
  };
}
