/**
 * Raises and resolves alerts about findings, in the transaction that opens or closes them. Whoever
 * does that hands over what changed; what a finding says to people stands in domain/rules/findings.ts.
 */
import type { Database, Queryable } from '../platform/db/database.ts';
import {
  confirmationWaitMs,
  EXCESS_CLASSES,
  isExcess,
  SETTLING_MS,
} from './domain/rules/excesses.ts';
import {
  alertsAbout,
  findingAlert,
  GRACES,
  type Place,
  placeOf,
  resourceOf,
} from './domain/rules/findings.ts';
import { settleAlerts } from './raise.ts';
import {
  lockAwaitingExcesses,
  lockUnspoken,
  readPlaces,
  type StoredFinding,
} from './store/findings.ts';

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
    // An excess awaits confirmation; until then only an alert that is open is kept up to date.
    const isHeldBack = isExcess(rule) && finding.isConfirmed === undefined;
    return [{ subject, rules: [rule], standing: alert ? [alert] : [], isHeldBack }];
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

/** Whether the service can be asked at all decides how long an excess awaits confirmation. */
export interface SpeakOptions {
  readonly isServiceAsked: boolean;
}

/**
 * Raises alerts about findings that have none and should: those whose grace is over, excesses that
 * the service confirmed, and those of a time before there were alerts.
 * @returns how many it looked at
 */
export async function speakOfFindings(
  db: Database,
  { isServiceAsked }: SpeakOptions,
): Promise<number> {
  const limit = FINDINGS_PER_TRANSACTION;
  const graces = GRACES.filter((grace) => !isExcess(grace.class));
  const excesses = {
    classes: EXCESS_CLASSES,
    settlingMs: SETTLING_MS,
    waitMs: confirmationWaitMs(isServiceAsked),
    limit,
  };
  return (
    (await speakOf(db, (tx) => lockUnspoken(tx, graces, limit))) +
    (await speakOf(db, (tx) => lockAwaitingExcesses(tx, excesses)))
  );
}

async function speakOf(
  db: Database,
  lock: (tx: Queryable) => Promise<readonly StoredFinding[]>,
): Promise<number> {
  let spoken = 0;
  for (;;) {
    const open = await db.transaction(async (tx) => {
      const unspoken = await lock(tx);
      await settleFindings(tx, { open: unspoken, over: [] });
      return unspoken;
    });
    spoken += open.length;
    if (open.length < FINDINGS_PER_TRANSACTION) return spoken;
  }
}
