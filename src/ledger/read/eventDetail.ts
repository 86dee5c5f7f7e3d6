/** Everything that is kept of one event, as far as it is shown on one page. */
import type { Queryable } from '../../platform/db/database.ts';
import { explainAbsences, readBodies } from '../bodies/readBodies.ts';
import type { BodyAbsence } from '../domain/bodyAbsence.ts';
import { type EventFinding, readEventRow } from './store/parts.ts';
import { readVariants, type VariantRow } from './store/variants.ts';

/** The most findings and other bodies; one more is read, which shows whether there are more. */
export const MAX_EVENT_FINDINGS = 100;
export const MAX_EVENT_VARIANTS = 20;

export interface EventDetail {
  /** The body, or why there is none anymore. */
  readonly body: Buffer | BodyAbsence;
  /** The bodies that arrived under the same id and were not applied, the first to arrive first. */
  readonly variants: readonly VariantRow[];
  readonly areVariantsComplete: boolean;
  /** Oldest first. */
  readonly findings: readonly EventFinding[];
  readonly areFindingsComplete: boolean;
}

export async function readEventDetail(db: Queryable, id: number): Promise<EventDetail | undefined> {
  const row = await readEventRow(db, id, { findings: MAX_EVENT_FINDINGS + 1 });
  if (!row) return undefined;
  const limit = MAX_EVENT_VARIANTS + 1;
  const variants = await readVariants(db, id, { after: undefined, limit });
  const body = (await readBodies(db, [row])).get(id) ?? (await explainAbsences(db, [row])).get(id);
  return {
    body: body ?? { outcome: 'unexplained' },
    variants: variants.slice(0, MAX_EVENT_VARIANTS),
    areVariantsComplete: variants.length <= MAX_EVENT_VARIANTS,
    findings: row.findings.slice(0, MAX_EVENT_FINDINGS),
    areFindingsComplete: row.findings.length <= MAX_EVENT_FINDINGS,
  };
}
