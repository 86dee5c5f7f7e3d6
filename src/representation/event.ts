/** An event of the inbox as JSON. */
import { describeAbsence } from '../ledger/domain/bodyAbsence.ts';
import { formatInstant } from '../ledger/domain/time.ts';
import type { EventDetail } from '../ledger/read/eventDetail.ts';
import type { EventSummary } from '../ledger/read/store/parts.ts';
import type { VariantRow } from '../ledger/read/store/variants.ts';
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
    discarded:
      row.discardedAt === null
        ? null
        : {
            at: row.discardedAt.toISOString(),
            by: row.discardedBy ?? '',
            reason: row.discardedReason ?? '',
          },
    received_at: row.receivedAt.toISOString(),
    secret: row.secretFingerprint,
  };
}

/**
 * An event with its body, which holds personal data: only for the command line. `body` is null if it
 * was removed, and `body_absence` has the reason.
 */
export function eventWithBodyJson(row: EventSummary, detail: EventDetail) {
  return {
    ...eventJson(row),
    body: Buffer.isBuffer(detail.body) ? detail.body.toString('utf8') : null,
    body_absence: Buffer.isBuffer(detail.body) ? null : describeAbsence(detail.body),
    findings: detail.findings.map(({ class: name, state, detail: seen }) => ({
      class: name,
      state,
      detail: detailValueJson(seen),
    })),
    findings_complete: detail.areFindingsComplete,
    variants: detail.variants.map(({ body }) => body?.toString('utf8') ?? null),
    variants_complete: detail.areVariantsComplete,
  };
}

/** Another body that arrived under the id of an event; it holds personal data, too. */
export function variantJson({ body, bodySha256, receivedMicros }: VariantRow) {
  return {
    received_at: formatInstant(receivedMicros),
    body_sha256: bodySha256,
    body: body?.toString('utf8') ?? null,
  };
}
