/** Names the evidence that a person saw, so that a change by somebody else since then is noticed. */
import { createHash } from 'node:crypto';
import type { EvidenceValues } from './disputeService.ts';

/** @returns the same text for the same values of all fields, in any order */
export function evidenceVersion(values: EvidenceValues): string {
  const entries = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 32);
}
