/**
 * Erases personal data for a person who is responsible for it.
 *
 * 1. The person decides about counts: `planErasure` comes first, then `eraseAs` with what it returned, or
 *    `requestErasureAs`, after which the scheduler erases.
 * 2. The request and its entry in the audit log are written in one transaction, and so are its end and the
 *    entry of that. The scheduler continues a request that is not done, and so does the same call: of the same
 *    subjects there is one request that runs.
 * 3. A process claims a request before it works on it (erasure/holdErasure.ts).
 * 4. A customer id is in no other table of the ledger. It is kept while the request runs, because it is
 *    what to look for; afterwards its digest shows that the request was met.
 */
import { randomUUID } from 'node:crypto';
import { clearImportedRows } from '../archive/store/importedRows.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { redactPersonalData } from '../contract/personalData.ts';
import { digestOfCustomer } from '../erasure/customerDigest.ts';
import { type ErasureSubject, readSubject, subjectText } from '../erasure/domain/subjects.ts';
import { type Erased, type EraseProgress, erase } from '../erasure/erase.ts';
import { findPersonalData, type Person } from '../erasure/findPersonalData.ts';
import { holdErasure } from '../erasure/holdErasure.ts';
import {
  claimErasure,
  type ErasureRow,
  type HeldErasure,
  insertErasure,
  lockErasureRequests,
  markErasureDone,
  readErasure,
  readRunningErasures,
} from '../erasure/store/erasures.ts';
import { type EventsState, readEventsState } from '../ledger/store/erasure.ts';
import type { Database, Queryable } from '../platform/db/database.ts';

export interface ErasureParts {
  readonly db: Database;
  readonly onProgress?: (progress: EraseProgress | FindProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface FindProgress {
  readonly phase: 'events';
  /** Bodies read. */
  readonly done: number;
  readonly total: 0;
}

/** What an erasure would erase. */
export interface ErasurePlan {
  readonly people: readonly Person[];
  /** A request for the same that is not done. */
  readonly running: ErasureRow | undefined;
  /** Numbers of resources by kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly events: number;
  readonly values: number;
  readonly state: EventsState;
  /** Subjects of which nothing is known. */
  readonly unknown: readonly ErasureSubject[];
}

/** Finds what the subjects name. Changes nothing. */
export async function planErasure(
  { db, onProgress = () => undefined, signal }: ErasureParts,
  subjects: readonly ErasureSubject[],
): Promise<ErasurePlan> {
  const people = await findPersonalData(db, subjects, {
    signal,
    onProgress: (done) => onProgress({ phase: 'events', done, total: 0 }),
  });
  const refs = new Map(
    people.flatMap(({ refs: own }) => own.map((ref) => [`${ref.kind}:${ref.id}`, ref])),
  );
  const resources: Record<string, number> = {};
  for (const { kind } of refs.values()) resources[kind] = (resources[kind] ?? 0) + 1;
  const events = [...new Set(people.flatMap(({ events: own }) => [...own]))];
  return {
    people,
    running: await findRunning(db, subjects),
    resources,
    events: events.length,
    values: new Set(people.flatMap(({ values }) => [...values.keys()])).size,
    state: await readEventsState(db, events),
    unknown: people.flatMap(({ subject, refs: own, events: of }) =>
      own.length === 0 && of.size === 0 ? [subject] : [],
    ),
  };
}

const MAX_RUNNING = 1_000;

async function findRunning(
  db: Queryable,
  subjects: readonly ErasureSubject[],
): Promise<ErasureRow | undefined> {
  const wanted = namesOf(subjects).join('\n');
  const running = await readRunningErasures(db, MAX_RUNNING);
  return running.find((one) => namesOf(one.subjects.map(readSubject)).join('\n') === wanted);
}

function namesOf(subjects: readonly ErasureSubject[]): readonly string[] {
  return [...new Set(subjects.map(subjectText))].toSorted();
}

export interface EraseInput {
  readonly plan: ErasurePlan;
  /** Not empty. */
  readonly reason: string;
}

export type ErasedAs = (
  | Erased
  /** Another process works on the request. */
  | { readonly outcome: 'busy' }
) & {
  /** Number of the request. */
  readonly id: number;
  /** As it is now. */
  readonly request: ErasureRow | undefined;
};

const MAX_REASON_LENGTH = 2_000;

/** Erases what a plan names, and proves it. */
export async function eraseAs(
  parts: ErasureParts,
  actor: Actor,
  { plan: { people, running }, reason }: EraseInput,
): Promise<ErasedAs> {
  const { db } = parts;
  const holder = randomUUID();
  const subjects = people.map(({ subject }) => subject);
  const { id, isNew } = running
    ? { id: running.id, isNew: false }
    : await request(db, actor, { subjects, reason, holder });
  const held = { id, holder };
  if (!isNew && !(await claimErasure(db, held))) {
    return { outcome: 'busy', id, request: await readErasure(db, id) };
  }
  const erased = await holdErasure(parts, held, (signal) =>
    erasePeople({ ...parts, signal }, actor, { held, people }),
  );
  return { ...erased, id, request: await readErasure(db, id) };
}

/** Erases and proves for the holder of a request, and ends the request if nothing waits. */
export async function erasePeople(
  parts: ErasureParts,
  actor: Actor,
  { held: { id }, people }: { readonly held: HeldErasure; readonly people: readonly Person[] },
): Promise<Erased> {
  // They are copies for queries, in which bodies are encoded, so a search would not find the values.
  await clearImportedRows(parts.db);
  const erased = await erase(parts, { id, people });
  const subjects = people.map(({ subject }) => subject);
  if (erased.outcome === 'erased') await finish(parts.db, actor, { id, subjects, erased });
  return erased;
}

/**
 * Requests an erasure, which the scheduler then carries out. Repeating a request that runs changes nothing.
 * @param input subjects, not empty, and why
 */
export async function requestErasureAs(
  { db }: { readonly db: Database },
  actor: Actor,
  input: { readonly subjects: readonly ErasureSubject[]; readonly reason: string },
): Promise<{ readonly isNew: boolean; readonly request: ErasureRow | undefined }> {
  const { id, isNew } = await request(db, actor, { ...input, holder: undefined });
  return { isNew, request: await readErasure(db, id) };
}

interface Requested {
  readonly subjects: readonly ErasureSubject[];
  readonly reason: string;
  /** Of the process that begins at once. */
  readonly holder: string | undefined;
}

/** Writes a request, unless one for the same runs. */
function request(
  db: Database,
  actor: Actor,
  { subjects, reason, holder }: Requested,
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const written = redactPersonalData(reason, MAX_REASON_LENGTH);
  return db.transaction(async (tx) => {
    await lockErasureRequests(tx);
    const running = await findRunning(tx, subjects);
    if (running) return { id: running.id, isNew: false };
    const id = await insertErasure(tx, {
      subjects: namesOf(subjects),
      reason: written,
      requestedBy: actor.name,
      holder,
    });
    await recordAudit(tx, {
      actor,
      action: 'erasure.request',
      subject: { kind: 'erasure', id: String(id) },
      reason: written,
      detail: countKinds(subjects),
    });
    return { id, isNew: true };
  });
}

interface Finished {
  readonly id: number;
  readonly subjects: readonly ErasureSubject[];
  readonly erased: Extract<Erased, { readonly outcome: 'erased' }>;
}

function finish(db: Database, actor: Actor, { id, subjects, erased }: Finished): Promise<void> {
  const { places, events, unreadable, toVacuum } = erased.proof;
  const remaining = places.reduce((sum, { rows }) => sum + rows, 0);
  return db.transaction(async (tx) => {
    const named = namesOf(subjects.map(withoutCustomerId));
    const proof = {
      places: places.map(({ table, rows }) => ({ table, rows })),
      events,
      unreadable_tables: unreadable,
      to_vacuum: toVacuum,
    };
    if (!(await markErasureDone(tx, { id, subjects: named, remaining, proof }))) return;
    const row = await readErasure(tx, id);
    await recordAudit(tx, {
      actor,
      action: 'erasure.finish',
      subject: { kind: 'erasure', id: String(id) },
      detail: {
        ...countKinds(subjects),
        bodies: row?.bodies ?? 0,
        texts: row?.texts ?? 0,
        remaining,
        unreadable_tables: unreadable.length,
      },
    });
  });
}

function withoutCustomerId({ kind, id }: ErasureSubject): ErasureSubject {
  return { kind, id: kind === 'customer' ? digestOfCustomer(id) : id };
}

function countKinds(subjects: readonly ErasureSubject[]): Readonly<Record<string, number>> {
  const count = (kind: ErasureSubject['kind']) =>
    subjects.filter((subject) => subject.kind === kind).length;
  return { orders: count('order'), payments: count('payment'), customers: count('customer') };
}
