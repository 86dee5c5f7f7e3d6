/**
 * Erases the personal data of people.
 *
 * 1. The request is stored first. A process that ends at any moment leaves a request that is running, and
 *    the process that continues it does every step again: each is idempotent.
 * 2. Copies are erased before bodies, because bodies show what to look for. So no step needs a value that
 *    an earlier step has erased, and values are never stored.
 * 3. A body is erased in the transaction that records it. Bodies of pending events wait until they are
 *    applied: no money is lost to an erasure.
 * 4. At the end every table is searched again: that is the proof.
 */
import { eraseBodies } from '../ledger/bodies/eraseBodies.ts';
import { scanBodies } from '../ledger/bodies/scanBodies.ts';
import { ERASED_TEXT } from '../ledger/domain/erasedContent.ts';
import { eraseResources } from '../ledger/eraseResources.ts';
import { retryWithMoreLocks } from '../ledger/lockSetChanged.ts';
import { insertErasedBodies, readEventsState, redactDeadEvents } from '../ledger/store/erasure.ts';
import { inChunks } from '../platform/collections.ts';
import type { Database, Session } from '../platform/db/database.ts';
import {
  type CopiesResult,
  type FoundPlace,
  matcherOf,
  namesPerson,
  type PersonMatcher,
  searchCopies,
} from './copies.ts';
import { createMatcher, eraseValues } from './domain/matcher.ts';
import type { Person } from './findPersonalData.ts';
import { addTexts, markCopiesErased } from './store/erasures.ts';
import { type TextTable, vacuumTable } from './store/scan.ts';

export interface EraseProgress {
  readonly phase: 'copies' | 'resources' | 'bodies' | 'proof';
  readonly done: number;
  readonly total: number;
}

export interface EraseParts {
  readonly db: Database;
  readonly onProgress?: (progress: EraseProgress) => void;
  /** Stops between two steps or pages. */
  readonly signal?: AbortSignal | undefined;
}

export type Erased =
  /** Everything that can be erased is erased. */
  | { readonly outcome: 'erased'; readonly proof: Proof }
  /** Events of the people are not applied yet, and their bodies are left. */
  | { readonly outcome: 'waiting'; readonly pending: readonly number[] };

export interface Proof {
  /** Where values are left, for a person to decide about. */
  readonly places: readonly FoundPlace[];
  /** Inbox numbers of events with values in their bodies: of other payments with the same data. */
  readonly events: readonly number[];
  readonly unreadable: readonly string[];
  /** Changed tables that still hold earlier versions of rows until they are vacuumed. */
  readonly toVacuum: readonly string[];
}

/** A row may change while it is read; more often than this, and it is left to the proof. */
const MAX_PASSES = 4;
const REFS_AT_ONCE = 200;
const BODIES_AT_ONCE = 200;
/** Vacuum of a larger table takes longer than a command should. */
const MAX_VACUUM_BYTES = 64 * 1024 * 1024;
const MAX_EVENTS_NAMED = 20;

/** @param people what findPersonalData found for the request */
export function erase(
  { db, onProgress = () => undefined, signal }: EraseParts,
  { id, people }: { readonly id: number; readonly people: readonly Person[] },
): Promise<Erased> {
  return db.session(async (session): Promise<Erased> => {
    const input = { id, people, onProgress, signal };
    await eraseFromResources(session, input);
    const { matcher, changed } = await eraseCopies(db, session, input);
    await markCopiesErased(session, id);
    const pending = await eraseAllBodies(session, input);
    if (pending.length > 0) return { outcome: 'waiting', pending };
    const toVacuum = await vacuumSmall(session, changed);
    const proof = await prove({ db, onProgress, signal }, matcher);
    return { outcome: 'erased', proof: { ...proof, toVacuum } };
  });
}

interface StepInput {
  readonly id: number;
  readonly people: readonly Person[];
  readonly onProgress: (progress: EraseProgress) => void;
  readonly signal: AbortSignal | undefined;
}

async function eraseFromResources(
  session: Session,
  { id, people, onProgress, signal }: StepInput,
): Promise<void> {
  for (const [done, { refs, values }] of people.entries()) {
    const matcher = createMatcher([...values.keys()].map((value) => ({ value, owner: undefined })));
    // A pattern for each of many values would take longer than the search that rules most of them out.
    const redact = (text: string) =>
      eraseValues(
        text,
        matcher.find(text).map(({ value }) => value),
      );
    for (const batch of inChunks(refs, REFS_AT_ONCE)) {
      signal?.throwIfAborted();
      await retryWithMoreLocks(() =>
        session.transaction(async (tx) => {
          const texts = await eraseResources(tx, batch, redact);
          if (texts > 0) await addTexts(tx, id, texts);
        }),
      );
    }
    onProgress({ phase: 'resources', done: done + 1, total: people.length });
  }
}

interface ErasedCopies {
  /** Finds everything that was searched for. */
  readonly matcher: PersonMatcher;
  readonly changed: readonly TextTable[];
}

async function eraseCopies(
  db: Database,
  session: Session,
  { id, people, onProgress, signal }: StepInput,
): Promise<ErasedCopies> {
  const changed = new Map<string, TextTable>();
  const known = people.map(({ ids, values }) => ({ ids, values: new Map(values) }));
  let matcher = matcherOf(known);
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const found = await searchCopies(
      {
        db,
        writer: session,
        signal,
        onProgress: ({ bytes, total }) => onProgress({ phase: 'copies', done: bytes, total }),
      },
      matcher,
    );
    const isWiser = addLearned(known, found.learned);
    if (found.replaced === 0 && !isWiser) break;
    await addTexts(session, id, found.replaced);
    for (const table of found.changed) changed.set(table.quoted, table);
    if (isWiser) matcher = matcherOf(known);
  }
  return { matcher, changed: [...changed.values()] };
}

/** @returns whether a value is new */
function addLearned(
  people: readonly { readonly values: Map<string, boolean> }[],
  learned: CopiesResult['learned'],
): boolean {
  let isNew = false;
  for (const [person, some] of learned) {
    const values = people[person]?.values;
    if (!values) continue;
    for (const { value, isDistinctive } of some) {
      const before = values.get(value);
      if (before === true || before === isDistinctive) continue;
      values.set(value, isDistinctive);
      isNew = true;
    }
  }
  return isNew;
}

/** @returns the events that are not applied yet */
async function eraseAllBodies(
  session: Session,
  { id, people, onProgress, signal }: StepInput,
): Promise<readonly number[]> {
  const events = [...new Set(people.flatMap(({ events: own }) => [...own]))].toSorted(
    (a, b) => a - b,
  );
  const waiting: number[] = [];
  let done = 0;
  for (const batch of inChunks(events, BODIES_AT_ONCE)) {
    signal?.throwIfAborted();
    waiting.push(...(await eraseSomeBodies(session, { id, events: batch })));
    done += batch.length;
    onProgress({ phase: 'bodies', done, total: events.length });
  }
  return waiting;
}

function eraseSomeBodies(
  session: Session,
  { id, events }: { readonly id: number; readonly events: readonly number[] },
): Promise<readonly number[]> {
  return session.transaction(async (tx) => {
    const { pending, dead } = await readEventsState(tx, events);
    const waits = new Set(pending);
    const ids = events.filter((event) => !waits.has(event));
    if (dead.length > 0) await redactDeadEvents(tx, { ids: dead, error: ERASED_TEXT });
    if (ids.length > 0) {
      await eraseBodies(tx, ids);
      await insertErasedBodies(tx, { ids, erasureId: id });
    }
    return pending;
  });
}

/** Searches everything, and changes nothing. */
export async function prove(
  { db, onProgress = () => undefined, signal }: EraseParts,
  matcher: PersonMatcher,
): Promise<Omit<Proof, 'toVacuum'>> {
  const { places, unreadable } = await searchCopies(
    {
      db,
      writer: undefined,
      signal,
      onProgress: ({ bytes, total }) => onProgress({ phase: 'proof', done: bytes, total }),
    },
    matcher,
  );
  const events = new Set<number>();
  if (places.some(({ hasBodies }) => hasBodies)) {
    const isOver = () => events.size >= MAX_EVENTS_NAMED;
    await scanBodies(db, { since: undefined, signal, isOver }, (bodies) => {
      for (const { id, body } of bodies) {
        if (isOver()) return;
        if (namesPerson(matcher, body.toString('utf8'))) events.add(id);
      }
    });
  }
  return { places, unreadable, events: [...events] };
}

/** @returns the tables that are left to the operator */
async function vacuumSmall(
  session: Session,
  tables: readonly TextTable[],
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of tables) {
    if (table.isOwned && table.bytes <= MAX_VACUUM_BYTES) await vacuumTable(session, table);
    else left.push(table.quoted);
  }
  return left;
}
