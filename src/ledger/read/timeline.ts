/** The timeline of one order, from the rows that also explain it. */
import { readAlertHistory } from '../../alerts/store/openAlerts.ts';
import { readAuditHistory } from '../../audit/store/audit.ts';
import type { ReasonFields } from '../../contract/reasons.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { eventSubject } from '../domain/findings.ts';
import type { SnapshotHistory, TransferHistory } from '../domain/history.ts';
import { orderSubject } from '../domain/orderFindings.ts';
import { capturedOf, refKey, type SnapshotContent } from '../domain/snapshot.ts';
import { ACTIONS_SHOWN_OTHERWISE, buildTimeline, type TimelineEntry } from '../domain/timeline.ts';
import {
  type PartRow,
  type PostedEntry,
  readEntries,
  readEvidence,
  readPartRows,
  type StoredEvidence,
} from './store/explain.ts';
import { readExpectationHistory, readFindingHistory, readStatusHistory } from './store/timeline.ts';

export interface OrderTimeline {
  readonly timeline: readonly TimelineEntry[];
  /** False if only the newest entries are returned, or those of some of the parts. */
  readonly isTimelineComplete: boolean;
}

const MAX_ENTRIES = 500;
const MAX_PARTS = 1_000;

/** Reads the timeline of an order, oldest entry first. */
export async function readTimeline(db: Queryable, orderKey: string): Promise<OrderTimeline> {
  const parts = await readPartRows(db, orderKey, MAX_PARTS + 1);
  // One more than is returned, which shows whether there is more.
  const limit = MAX_ENTRIES + 1;
  const evidence = await readEvidence(db, parts, limit);
  const entries = await readEntries(db, parts, limit);
  const statuses = await readStatusHistory(db, { orderKey, limit });
  const expectations = await readExpectationHistory(db, { orderKey, limit });
  const subjects = [
    orderSubject(orderKey),
    ...parts.map(refKey),
    ...evidence.flatMap(({ inboxId }) => (inboxId === undefined ? [] : eventSubject(inboxId))),
  ];
  const findings = await readFindingHistory(db, { subjects, limit });
  const alerts = await readAlertHistory(db, { subjects, limit });
  const audit = await readAuditHistory(db, {
    orderKey,
    subjects: [
      ...subjects,
      ...findings.map(({ id }) => `finding:${id}`),
      ...alerts.map(({ id }) => `alert:${id}`),
    ],
    without: ACTIONS_SHOWN_OTHERWISE,
    limit,
  });
  const heads = new Map(parts.map((part) => [refKey(part), part]));
  const timeline = buildTimeline({
    snapshots: evidence.toReversed().map((one) => toSnapshot(one, heads.get(refKey(one.ref)))),
    transfers: entries.toReversed().map((entry) => toTransfer(entry, evidence)),
    statuses: statuses.toReversed(),
    expectations: expectations.toReversed(),
    findings: findings.toReversed(),
    alerts: alerts.toReversed(),
    audit: audit.toReversed(),
  });
  return {
    timeline: timeline.slice(-MAX_ENTRIES),
    isTimelineComplete: timeline.length <= MAX_ENTRIES && parts.length <= MAX_PARTS,
  };
}

function toSnapshot(one: StoredEvidence, part: PartRow | undefined): SnapshotHistory {
  const { content } = one;
  return {
    ...one.ref,
    source: one.source,
    isCurrent: one.contentHash === part?.headHash && one.epoch === part.epoch,
    status: content.status ?? null,
    stage: content.stage ?? null,
    currency: content.currency ?? null,
    amountMinor: content.amountMinor ?? null,
    receivedMinor: capturedOf(content) ?? null,
    ...toReason(content),
    recordedMicros: one.recordedMicros,
    eventNumber: one.inboxId ?? null,
    eventId: one.eventId ?? null,
    eventType: one.eventType ?? null,
    eventReceivedMicros: one.eventReceivedMicros ?? null,
  };
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
    eventNumber: entry.inboxId ?? null,
    eventId: entry.eventId ?? null,
    headSource: head?.source ?? null,
  };
}
