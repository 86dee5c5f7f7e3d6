/** Reports what a transaction changed to the alert rules: each resource before and after. */
import type { ResourceFacts } from '../alerts/domain/facts.ts';
import { syncResourceAlerts } from '../alerts/syncResourceAlerts.ts';
import { describeReason } from '../contract/reasons.ts';
import type { Queryable } from '../platform/db/database.ts';
import { type History, historyOf, isImportedHistory } from './domain/importedHistory.ts';
import type { Merged } from './domain/mergeObservations.ts';
import { namedOrderId } from './domain/orderKey.ts';
import { termOf } from './domain/overdue.ts';
import { refKey } from './domain/snapshot.ts';
import { readBeginningMs } from './installation.ts';
import type { Applied } from './recordChanges.ts';
import { lockAccepted } from './store/findings.ts';
import type { ResourceRow } from './store/resources.ts';

export interface AlertInput {
  readonly applied: readonly Applied[];
  readonly nowMs: number;
  readonly history: History | undefined;
}

/** Raises and resolves alerts about the applied resources. The caller holds their locks. */
export async function raiseAlerts(
  tx: Queryable,
  { applied, nowMs, history }: AlertInput,
): Promise<void> {
  const accepted = await readAcceptedTerms(tx, applied);
  const past = history ?? (await historyOfEvents(tx, applied, nowMs));
  const resources = applied.flatMap((resource) => {
    const facts = factsOf(resource, past);
    if (!facts) return [];
    return accepted.has(refKey(resource.row)) ? withoutTerm(facts) : facts;
  });
  await syncResourceAlerts(tx, { resources, nowMs });
}

/**
 * What is history to events, which no run reads (domain/importedHistory.ts, rule 5). Runs no statement unless one of
 * them is the first about something that changed long ago.
 */
async function historyOfEvents(
  tx: Queryable,
  applied: readonly Applied[],
  nowMs: number,
): Promise<History | undefined> {
  const before = (installedMs: number) =>
    historyOf({ installedMs, isImported: true, nowMs, skewMs: 0 });
  const isOld = applied.some(({ row, merged }) =>
    isImportedHistory(row.status, changeOf(merged), before(nowMs)),
  );
  return isOld ? before(await readBeginningMs(tx, nowMs)) : undefined;
}

/** Resources with an accepted overdue finding. Runs no statement if none is overdue. */
async function readAcceptedTerms(
  tx: Queryable,
  applied: readonly Applied[],
): Promise<ReadonlySet<string>> {
  const overdue = applied.flatMap(({ row, update }) =>
    update?.open_findings.includes('overdue') ? refKey(row) : [],
  );
  return new Set(overdue.length > 0 ? await lockAccepted(tx, 'overdue', overdue) : []);
}

/** Accepting the finding resolved its alert; the same term does not raise it again. */
function withoutTerm(facts: ResourceFacts): ResourceFacts {
  const before = facts.before && { ...facts.before, termDays: undefined };
  return { ...facts, before, termDays: undefined };
}

/** Undefined if the observations added nothing. */
function factsOf(
  { row, orderKey, merged, update, causedBy }: Applied,
  history: History | undefined,
): ResourceFacts | undefined {
  const state = merged?.state;
  if (!state || !update || (merged.added.length === 0 && merged.openedEpochs.length === 0)) {
    return undefined;
  }
  const { kind, id } = row;
  const { status, stage, currency, amountMinor, posts } = state;
  const termDays = posts ? termOf(kind, { status, stage })?.days : undefined;
  return {
    kind,
    id,
    before: beforeOf(row),
    status,
    stage,
    currency,
    amountMinor,
    authorizedMinor: state.authorizedMinor,
    capturedMinor: state.capturedMinor,
    createdMs: toMs(state.createdMicros),
    deadlineMs: toMs(state.deadlineMicros),
    // A payout names its order itself; other resources are filed under theirs.
    orderId: kind === 'payout' ? state.orderId : namedOrderId(orderKey),
    paymentId: kind === 'payment' ? id : (update.payment_id ?? undefined),
    reason: describeReason(kind, status, state),
    termDays,
    termSinceMs: toMs(state.termSinceMicros),
    stageSinceMs: toMs(state.stageSinceMicros),
    isOverdue: update.open_findings.includes('overdue'),
    statusAhead: state.statusAhead,
    isHistory: isImportedHistory(row.status, changeOf(merged), history),
    causedBy,
  };
}

/** When a resource was last changed; where the service gives no time of it, when the event about it was sent. */
function changeOf(merged: Merged | undefined): Parameters<typeof isImportedHistory>[1] {
  if (!merged?.state) return {};
  const { versionMicros, createdMicros } = merged.state;
  return { versionMicros: versionMicros ?? reportedMicros(merged), createdMicros };
}

/** When the service sent the newest of the events that added something. */
function reportedMicros({ added }: Merged): number | undefined {
  const times = added.flatMap(({ source, observedMicros }) =>
    source === 'webhook' ? [observedMicros] : [],
  );
  return times.length > 0 ? Math.max(...times) : undefined;
}

function beforeOf(row: ResourceRow): ResourceFacts['before'] {
  if (row.status === null) return undefined;
  const stage = row.stage ?? undefined;
  return {
    status: row.status,
    stage,
    deadlineMs: row.deadlineAt?.getTime(),
    termDays: termOf(row.kind, row)?.days,
  };
}

function toMs(micros: number | undefined): number | undefined {
  return micros === undefined ? undefined : Math.floor(micros / 1000);
}
