/**
 * Reads what one event changed: in the ledger, of findings and alerts, and which order webhooks followed. An
 * event that changed nothing comes with the reason.
 */
import { type AlertRow, readAlertsOfEvent } from '../alerts/store/alertRows.ts';
import { contentHash } from '../ledger/contentHash.ts';
import type { BodyAbsence } from '../ledger/domain/bodyAbsence.ts';
import type { NumberedChange } from '../ledger/domain/changes.ts';
import { readEvent } from '../ledger/domain/event.ts';
import { type EventEffect, effectOf } from '../ledger/domain/eventEffect.ts';
import { eventSubject, NOT_APPLIED_CLASSES } from '../ledger/domain/findings.ts';
import type { JournalRow } from '../ledger/domain/journalFormats.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { readEventBodies } from '../ledger/read/eventBodies.ts';
import {
  findSnapshot,
  type KnownSnapshot,
  readChangesOfEvent,
  readResourcesOfEvent,
  readTransfersOfEvent,
} from '../ledger/read/store/eventChanges.ts';
import { readEvidence } from '../ledger/read/store/explain.ts';
import {
  type FindingRow,
  readFindingsAbout,
  readFindingsOfEvent,
} from '../ledger/read/store/findings.ts';
import type { EventSummary } from '../ledger/read/store/parts.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import { type MessageRow, readOrderWebhooks } from '../notify/store/messageRows.ts';
import type { Database, Queryable } from '../platform/db/database.ts';

/** The most rows of each kind. */
export const MAX_OF_EVENT = 50;
/** The most snapshots of a resource among which one is placed. */
const MAX_EVIDENCE = 500;

/** A resource of which the event brought a snapshot. */
export interface ChangedResource extends ResourceRef {
  /** Undefined: the resource has more snapshots than are read. */
  readonly effect: EventEffect | undefined;
  readonly snapshots: number;
}

export interface EventChanges {
  readonly resources: readonly ChangedResource[];
  readonly changes: readonly NumberedChange[];
  readonly transfers: readonly JournalRow[];
  readonly orderWebhooks: readonly MessageRow[];
  readonly findingsOpened: readonly FindingRow[];
  readonly findingsClosed: readonly FindingRow[];
  readonly alertsOpened: readonly AlertRow[];
  readonly alertsResolved: readonly AlertRow[];
  /** False: of a kind there are more than `MAX_OF_EVENT`. */
  readonly isComplete: boolean;
  /** Why the ledger is as it was before; undefined if the event brought something. */
  readonly noChange: NoChange | undefined;
}

export type NoChange =
  | { readonly why: 'pending' | 'dead' | 'discarded' }
  /** @param findingClass a class that explains it; undefined: it is about something that moves no money */
  | { readonly why: 'not_applied'; readonly findingClass: string | undefined }
  /** The same content was known, by another event or by a read from the service. */
  | { readonly why: 'known'; readonly by: KnownSnapshot }
  /** Known, too; without the body, nothing shows by what. */
  | { readonly why: 'known_before'; readonly absence: BodyAbsence | undefined };

/** What an event changed. All rows are in the order in which they were written. */
export function readEventChanges(db: Database, event: EventSummary): Promise<EventChanges> {
  return readConsistently(db, async (tx) => {
    const all = await readRows(tx, event.id);
    const changes = all.changes.slice(0, MAX_OF_EVENT);
    const orderWebhooks = await readOrderWebhooks(
      tx,
      changes.map(({ number }) => number),
      LIMIT,
    );
    const rows = { ...all, orderWebhooks };
    const isNothing = rows.resources.length === 0;
    return {
      ...rows,
      resources: rows.resources.slice(0, MAX_OF_EVENT),
      changes,
      transfers: rows.transfers.slice(0, MAX_OF_EVENT),
      orderWebhooks: orderWebhooks.slice(0, MAX_OF_EVENT),
      findingsOpened: rows.findingsOpened.slice(0, MAX_OF_EVENT),
      findingsClosed: rows.findingsClosed.slice(0, MAX_OF_EVENT),
      alertsOpened: rows.alertsOpened.slice(0, MAX_OF_EVENT),
      alertsResolved: rows.alertsResolved.slice(0, MAX_OF_EVENT),
      isComplete: Object.values(rows).every((list) => list.length <= MAX_OF_EVENT),
      noChange: isNothing ? await explainNoChange(tx, event) : undefined,
    };
  });
}

/** One more than is returned, which shows whether there is more. */
const LIMIT = MAX_OF_EVENT + 1;

async function readRows(tx: Queryable, event: number) {
  const of = { event, limit: LIMIT };
  const refs = await readResourcesOfEvent(tx, of);
  const resources: ChangedResource[] = [];
  for (const ref of refs) resources.push(await readEffect(tx, ref, event));
  return {
    resources,
    transfers: refs.length > 0 ? await readTransfersOfEvent(tx, refs, of) : [],
    changes: await readChangesOfEvent(tx, of),
    findingsOpened: await readFindingsOfEvent(tx, { ...of, by: 'opened' }),
    findingsClosed: await readFindingsOfEvent(tx, { ...of, by: 'closed' }),
    alertsOpened: await readAlertsOfEvent(tx, { ...of, by: 'opened' }),
    alertsResolved: await readAlertsOfEvent(tx, { ...of, by: 'resolved' }),
  };
}

async function readEffect(
  tx: Queryable,
  ref: ResourceRef,
  event: number,
): Promise<ChangedResource> {
  const evidence = await readEvidence(tx, [ref], MAX_EVIDENCE + 1);
  const own = evidence.filter(({ inboxId }) => inboxId === event);
  const [newest] = own;
  const isWhole = evidence.length <= MAX_EVIDENCE;
  const effect = newest && isWhole ? effectOf(newest, evidence) : undefined;
  return { ...ref, effect, snapshots: Math.max(1, own.length) };
}

async function explainNoChange(tx: Queryable, event: EventSummary): Promise<NoChange> {
  const { state } = event;
  if (state === 'pending' || state === 'dead' || state === 'discarded') return { why: state };
  const names: readonly string[] = NOT_APPLIED_CLASSES;
  const findings = await readFindingsAbout(tx, [eventSubject(event.id)], LIMIT);
  const refusal = findings.find(({ class: name }) => names.includes(name));
  if (refusal || state === 'not_applied') {
    return { why: 'not_applied', findingClass: refusal?.class };
  }
  const { body, absence } = (await readEventBodies(tx, [event.id])).get(event.id) ?? {};
  if (!body) return { why: 'known_before', absence };
  const receivedMicros = event.receivedAt.getTime() * 1000;
  const times = { receivedMicros, referenceMicros: receivedMicros };
  // Of another account: a finding is open, and was seen above.
  const reading = readEvent({ ...event, ...times, body }, event.merchantId ?? '');
  if (reading.outcome === 'moneyless') return { why: 'not_applied', findingClass: undefined };
  const by =
    reading.outcome === 'snapshot'
      ? await findSnapshot(tx, reading.ref, contentHash(reading.content))
      : undefined;
  return by ? { why: 'known', by } : { why: 'known_before', absence: undefined };
}
