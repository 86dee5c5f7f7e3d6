/**
 * Raises and resolves alerts about findings, in the transaction that opens or closes the findings. The
 * texts are in domain/rules/findings.ts.
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
import {
  lockAwaitingExcesses,
  lockUnalerted,
  readPlaces,
  type StoredFinding,
} from './store/findings.ts';
import { syncAlerts } from './syncAlerts.ts';

/** Findings that changed: those that are open and not accepted now, and those that no longer are. */
export interface ChangedFindings {
  readonly open: readonly StoredFinding[];
  readonly closed: readonly Pick<StoredFinding, 'class' | 'subject' | 'causedBy'>[];
}

/** Runs no statement if no class that alerts has changed. */
export async function syncFindingAlerts(
  tx: Queryable,
  { open, closed }: ChangedFindings,
): Promise<void> {
  const placeIn = await readPlacesOf(
    tx,
    open.filter((finding) => alertsAbout(finding.class)),
  );
  const raised = open.flatMap((finding) => {
    const { class: rule, subject, causedBy } = finding;
    if (!alertsAbout(rule)) return [];
    const alert = findingAlert({ ...finding, place: placeIn(finding) });
    // While an excess awaits confirmation, an open alert is updated and none is opened.
    const isOpeningDeferred = isExcess(rule) && finding.isConfirmed === undefined;
    const active = alert ? [alert] : [];
    return [{ subject, rules: [rule], active, isOpeningDeferred, causedBy }];
  });
  const ended = closed.flatMap(({ class: rule, subject, causedBy }) =>
    alertsAbout(rule) ? [{ subject, rules: [rule], active: [], causedBy }] : [],
  );
  await syncAlerts(tx, [...raised, ...ended]);
}

/** Reads what the ledger knows about the subjects of findings. */
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

/** Whether an API key is set decides how long an excess awaits confirmation. */
interface RaiseOptions {
  readonly hasApiKey: boolean;
}

/**
 * Raises missing alerts about findings: those past their grace period, excesses that the service
 * confirmed, and findings of versions without alerts.
 * @returns how many findings it processed
 */
export async function raiseWaitingFindings(
  db: Database,
  { hasApiKey }: RaiseOptions,
): Promise<number> {
  const limit = FINDINGS_PER_TRANSACTION;
  const graces = GRACES.filter((grace) => !isExcess(grace.class));
  const excesses = {
    classes: EXCESS_CLASSES,
    settlingMs: SETTLING_MS,
    waitMs: confirmationWaitMs(hasApiKey),
    limit,
  };
  return (
    (await raiseAlertsOf(db, (tx) => lockUnalerted(tx, graces, limit))) +
    (await raiseAlertsOf(db, (tx) => lockAwaitingExcesses(tx, excesses)))
  );
}

async function raiseAlertsOf(
  db: Database,
  lock: (tx: Queryable) => Promise<readonly StoredFinding[]>,
): Promise<number> {
  let total = 0;
  for (;;) {
    const open = await db.transaction(async (tx) => {
      const findings = await lock(tx);
      await syncFindingAlerts(tx, { open: findings, closed: [] });
      return findings;
    });
    total += open.length;
    if (open.length < FINDINGS_PER_TRANSACTION) return total;
  }
}
