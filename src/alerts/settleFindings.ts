/**
 * Raises and resolves alerts about findings, in the transaction that opens or closes them. Whoever
 * does that hands over what changed; what a finding says to people stands in domain/rules/findings.ts.
 */
import type { Database, Queryable } from '../platform/db/database.ts';
import {
  alertsAbout,
  findingAlert,
  GRACES,
  type Place,
  placeOf,
  resourceOf,
} from './domain/rules/findings.ts';
import { settleAlerts } from './raise.ts';
import { lockUnspoken, readPlaces, type StoredFinding } from './store/findings.ts';

/** What changed: findings that are open and not accepted now, and others that no longer are. */
export interface ChangedFindings {
  readonly open: readonly StoredFinding[];
  readonly over: readonly { readonly class: string; readonly subject: string }[];
}

/** Costs nothing where nothing changed, or only classes that alert nobody. */
export async function settleFindings(
  tx: Queryable,
  { open, over }: ChangedFindings,
): Promise<void> {
  const placeIn = await readPlacesOf(
    tx,
    open.filter((finding) => alertsAbout(finding.class)),
  );
  const raised = open.flatMap((finding) => {
    const { class: rule, subject } = finding;
    if (!alertsAbout(rule)) return [];
    const alert = findingAlert({ ...finding, place: placeIn(finding) });
    return [{ subject, rules: [rule], standing: alert ? [alert] : [] }];
  });
  const ended = over.flatMap(({ class: rule, subject }) =>
    alertsAbout(rule) ? [{ subject, rules: [rule], standing: [] }] : [],
  );
  await settleAlerts(tx, [...raised, ...ended]);
}

/** Tells where findings belong. */
async function readPlacesOf(
  tx: Queryable,
  findings: readonly StoredFinding[],
): Promise<(finding: StoredFinding) => Place> {
  const resources = findings.flatMap((finding) => resourceOf(finding) ?? []);
  const stored = resources.length > 0 ? await readPlaces(tx, resources) : [];
  const rows = new Map(stored.map((row) => [`${row.kind}:${row.id}`, row]));
  return (finding) => {
    const resource = resourceOf(finding);
    return placeOf(finding, resource && rows.get(`${resource.kind}:${resource.id}`));
  };
}

const FINDINGS_PER_TRANSACTION = 1_000;

/**
 * Speaks of findings that have no alert and should: those whose grace is over, and those of a time
 * before there were alerts.
 * @returns how many it looked at
 */
export async function speakOfFindings(db: Database): Promise<number> {
  let spoken = 0;
  for (;;) {
    const open = await db.transaction(async (tx) => {
      const unspoken = await lockUnspoken(tx, GRACES, FINDINGS_PER_TRANSACTION);
      await settleFindings(tx, { open: unspoken, over: [] });
      return unspoken;
    });
    spoken += open.length;
    if (open.length < FINDINGS_PER_TRANSACTION) return spoken;
  }
}
