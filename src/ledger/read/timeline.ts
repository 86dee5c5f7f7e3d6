/** The timeline of one order or of one resource, from the rows that also explain them. */
import { readAlertHistory } from '../../alerts/store/openAlerts.ts';
import { readAuditHistory } from '../../audit/store/audit.ts';
import type { ReasonFields } from '../../contract/reasons.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { timeOf } from '../domain/effectiveTimes.ts';
import { eventSubject } from '../domain/findings.ts';
import type { History, SnapshotHistory, TransferHistory } from '../domain/history.ts';
import { orderSubject } from '../domain/orderFindings.ts';
import { capturedOf, type ResourceRef, refKey, type SnapshotContent } from '../domain/snapshot.ts';
import { ACTIONS_SHOWN_OTHERWISE, buildTimeline, type TimelineEntry } from '../domain/timeline.ts';
import { readConsistently } from '../store/readConsistently.ts';
import {
  type PartRow,
  type PostedEntry,
  readEntries,
  readEvidence,
  readPartRow,
  readPartRows,
  type StoredEvidence,
} from './store/explain.ts';
import { readReplaysOf } from './store/replayRuns.ts';
import { readExpectationHistory, readFindingHistory, readStatusHistory } from './store/timeline.ts';

export interface Timeline {
  /** By recorded time; `timelineBy` has the other. */
  readonly timeline: readonly TimelineEntry[];
  /** False if only the entries that were recorded last are returned, or those of some of the parts. */
  readonly isTimelineComplete: boolean;
}

const MAX_ENTRIES = 500;
/** One more than is returned, which shows whether there is more. */
const LIMIT = MAX_ENTRIES + 1;
const MAX_PARTS = 1_000;

/** Reads the timeline of an order, the entry that was recorded first at the beginning. */
export async function readOrderTimeline(db: Queryable, orderKey: string): Promise<Timeline> {
  const parts = await readPartRows(db, orderKey, MAX_PARTS + 1);
  const statuses = await readStatusHistory(db, { orderKey, limit: LIMIT });
  const expectations = await readExpectationHistory(db, { orderKey, limit: LIMIT });
  const about = await readPartHistory(db, parts, orderKey);
  const { timeline, isTimelineComplete } = buildNewest({
    ...about,
    statuses: statuses.toReversed(),
    expectations: expectations.toReversed(),
  });
  return { timeline, isTimelineComplete: isTimelineComplete && parts.length <= MAX_PARTS };
}

/**
 * The same of one resource alone: nothing of its order or of the order's other parts.
 * @returns undefined for an unknown resource
 */
export function readResourceTimeline(
  db: Database,
  ref: ResourceRef,
): Promise<Timeline | undefined> {
  return readConsistently(db, async (tx) => {
    const part = await readPartRow(tx, ref);
    if (!part) return undefined;
    const about = await readPartHistory(tx, [part], undefined);
    return buildNewest({ ...about, statuses: [], expectations: [] });
  });
}

function buildNewest(history: History): Timeline {
  const timeline = buildTimeline(history);
  return {
    timeline: timeline.slice(-MAX_ENTRIES),
    isTimelineComplete: timeline.length <= MAX_ENTRIES,
  };
}

/** What happened to resources and to their order, if it is named, without the order's own steps. */
async function readPartHistory(
  db: Queryable,
  parts: readonly PartRow[],
  orderKey: string | undefined,
): Promise<Omit<History, 'statuses' | 'expectations'>> {
  const evidence = await readEvidence(db, parts, LIMIT);
  const entries = await readEntries(db, parts, LIMIT);
  const subjects = [
    ...(orderKey === undefined ? [] : [orderSubject(orderKey)]),
    ...parts.map(refKey),
    ...evidence.flatMap(({ inboxId }) => (inboxId === undefined ? [] : eventSubject(inboxId))),
  ];
  const findings = await readFindingHistory(db, { subjects, limit: LIMIT });
  const alerts = await readAlertHistory(db, { subjects, limit: LIMIT });
  const numbers = evidence.flatMap(({ inboxId }) => inboxId ?? []);
  const replays = await readReplaysOf(db, { numbers, limit: LIMIT });
  const audit = await readAuditHistory(db, {
    orderKey,
    subjects: [
      ...subjects,
      ...replays.map((id) => `replay:${id}`),
      ...findings.map(({ id }) => `finding:${id}`),
      ...alerts.map(({ id }) => `alert:${id}`),
    ],
    without: ACTIONS_SHOWN_OTHERWISE,
    limit: LIMIT,
  });
  const heads = new Map(parts.map((part) => [refKey(part), part]));
  return {
    snapshots: evidence.toReversed().map((one) => toSnapshot(one, heads.get(refKey(one.ref)))),
    transfers: entries.toReversed().map((entry) => toTransfer(entry, evidence)),
    findings: findings.toReversed(),
    alerts: alerts.toReversed(),
    audit: audit.toReversed(),
  };
}

function toSnapshot(one: StoredEvidence, part: PartRow | undefined): SnapshotHistory {
  const { content } = one;
  return {
    ...one.ref,
    source: one.source,
    isCurrent: isHead(one, part),
    status: content.status ?? null,
    stage: content.stage ?? null,
    currency: content.currency ?? null,
    amountMinor: content.amountMinor ?? null,
    receivedMinor: capturedOf(content) ?? null,
    ...toReason(content),
    recordedMicros: one.recordedMicros,
    effectiveMicros: timeOf(one).effectiveMicros,
    eventNumber: one.inboxId ?? null,
    eventId: one.eventId ?? null,
    eventType: one.eventType ?? null,
    eventReceivedMicros: one.eventReceivedMicros ?? null,
  };
}

/** Whether the state of a resource comes from a snapshot now. */
export function isHead(
  { contentHash, epoch }: Pick<StoredEvidence, 'contentHash' | 'epoch'>,
  part: PartRow | undefined,
): boolean {
  return contentHash === part?.headHash && epoch === part.epoch;
}

function toReason(content: SnapshotContent): Required<ReasonFields> {
  const { unifiedCode, unifiedMessage, errorCode, errorMessage, reason, reasonCode } = content;
  return { unifiedCode, unifiedMessage, errorCode, errorMessage, reason, reasonCode };
}

function toTransfer(entry: PostedEntry, evidence: readonly StoredEvidence[]): TransferHistory {
  const head = evidence.find(
    ({ ref, contentHash }) => contentHash === entry.headHash && refKey(ref) === refKey(entry.ref),
  );
  return {
    ...entry.ref,
    leg: entry.leg,
    debit: entry.debit,
    credit: entry.credit,
    currency: entry.currency,
    amountMinor: entry.amountMinor,
    cumulativeMinor: entry.cumulativeMinor,
    recordedMicros: entry.recordedMicros,
    effectiveMicros: entry.effectiveMicros ?? null,
    eventNumber: entry.inboxId ?? null,
    eventId: entry.eventId ?? null,
    headSource: head?.source ?? null,
  };
}
