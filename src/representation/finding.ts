/** A finding as JSON. */
import { findingMeaning } from '../ledger/domain/findings.ts';
import type { FindingRow } from '../ledger/read/store/findings.ts';
import { detailJson } from './detail.ts';
import { isoOrNull } from './time.ts';

export function findingJson(row: FindingRow) {
  return {
    number: row.id,
    class: row.class,
    meaning: findingMeaning(row.class),
    subject: row.subject,
    state: row.state,
    detail: detailJson(row.detail),
    opened_at: row.openedAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    closed_at: isoOrNull(row.closedAt),
    accepted:
      row.acceptedAt === null
        ? null
        : {
            at: row.acceptedAt.toISOString(),
            by: row.acceptedBy ?? '',
            reason: row.acceptedReason ?? '',
          },
  };
}
