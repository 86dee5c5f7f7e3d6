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

/** Why a finding was not accepted. */
export function notAcceptedText(
  number: number,
  outcome: 'unknown' | 'closed' | 'already' | 'changed',
): string {
  switch (outcome) {
    case 'unknown':
      return `There is no finding ${number}.`;
    case 'closed':
      return `Finding ${number} is already closed: its cause is gone.`;
    case 'already':
      return `Finding ${number} is already accepted. Nothing was changed.`;
    case 'changed':
      return `The facts of finding ${number} changed after they were shown. It was not accepted, because nobody saw the new ones: look at it again.`;
  }
}
