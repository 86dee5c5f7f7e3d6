/** Checks the inbox: every acknowledged event is applied, pending or dead. */
import { groupBy } from '../../platform/collections.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { contentHash } from '../contentHash.ts';
import { type BodyReading, inboxProblem } from '../domain/checkInbox.ts';
import { MAX_OFFENDERS } from '../domain/checks.ts';
import { readEvent } from '../domain/event.ts';
import { eventSubject } from '../domain/findings.ts';
import {
  isRedacted,
  readForeignText,
  readTextWithoutCardNumbers,
  type SnapshotContent,
  withoutAddedFields,
} from '../domain/snapshot.ts';
import { withoutHoursOnlyZones } from '../domain/time.ts';
import { readConsistently } from '../store/readConsistently.ts';
import type { EarlierReading } from '../store/rebuild.ts';
import {
  type InboxRow,
  readEventsWithSnapshot,
  readFindings,
  readInbox,
  readUnboundPending,
} from '../store/verifyInbox.ts';
import { findBodies, type StoredEvent } from './storedEvents.ts';
import { type Bounds, type Run, walk } from './walk.ts';

/** Bodies may be as large as the receiver allows, so memory is bounded in bytes. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

/** An event with the result of reading it again. */
export interface ReadEvent {
  readonly event: StoredEvent;
  readonly reading: BodyReading;
  readonly earlier: readonly EarlierReading[];
}

/** Receives the events that are neither pending nor dead, chunk by chunk. */
type Keep = (tx: Queryable, applied: readonly ReadEvent[]) => Promise<void>;

/**
 * Reads the inbox once.
 *
 * Detaching a partition ignores snapshots: a chunk that began before a day was packed may see its bodies
 * in neither place. So an event with a missing body without a record is read again in the snapshot of
 * the next chunk before it is reported.
 */
export async function checkInbox(
  run: Run,
  keep: Keep,
  { after, until }: Bounds<number> = {},
): Promise<void> {
  let missing: readonly StoredEvent<InboxRow>[] = [];
  const checkMissing = async (tx: Queryable): Promise<void> => {
    if (missing.length > 0) await checkFound(run, tx, await findBodies(tx, missing), keep);
    missing = [];
  };
  await walk<number>(
    run,
    'inbox',
    async (tx, afterId = 0) => {
      await checkMissing(tx);
      const rows = await readInbox(tx, {
        afterId,
        untilId: until,
        maxEvents: run.chunkSize,
        maxBytes: MAX_CHUNK_BYTES,
      });
      const events = await findBodies(tx, rows);
      missing = events.filter(isMissing);
      await checkFound(
        run,
        tx,
        events.filter((event) => !isMissing(event)),
        keep,
      );
      return { last: rows.at(-1)?.id, count: rows.length };
    },
    after,
  );
  if (until === undefined) await checkPending(run);
}

function isMissing({ found }: StoredEvent): boolean {
  return found.outcome === 'absent' && found.absence.outcome === 'unexplained';
}

async function checkFound(
  run: Run,
  tx: Queryable,
  events: readonly StoredEvent<InboxRow>[],
  keep: Keep,
): Promise<void> {
  const read = events.map((event) => ({ event, ...reread(event, run.merchantId) }));
  await checkEvents(run, tx, read);
  await keep(
    tx,
    read.filter(({ event }) => !event.isPending && !event.isDead),
  );
}

/** Reads a stored body as if it had just been received. */
export function reread(stored: StoredEvent, merchantId: string): Omit<ReadEvent, 'event'> {
  const { found } = stored;
  if (found.outcome !== 'intact') return { reading: found, earlier: [] };
  const event = { ...stored, body: found.body };
  const reading = readEvent(event, merchantId);
  if (reading.outcome !== 'snapshot') return { reading, earlier: [] };
  const readers = isRedacted(reading.content)
    ? [readForeignText, readTextWithoutCardNumbers]
    : [readForeignText];
  const json = found.body.toString('latin1');
  const known = withoutHoursOnlyZones(json);
  const bodies = known === json ? [found.body] : [found.body, Buffer.from(known, 'latin1')];
  const [, ...others] = bodies.flatMap((body) => readers.map((reader) => ({ body, reader })));
  const earlier = others.flatMap(({ body, reader }) => {
    const one = readEvent({ ...event, body }, merchantId, reader);
    return one.outcome === 'snapshot' ? [one] : [];
  });
  return { reading, earlier };
}

interface ReadRow extends ReadEvent {
  readonly event: StoredEvent<InboxRow>;
}

async function checkEvents({ tally }: Run, tx: Queryable, rows: readonly ReadRow[]): Promise<void> {
  const done = rows.filter(({ event }) => !event.isPending && !event.isDead);
  const contents = done.flatMap(({ event, reading, earlier }) =>
    reading.outcome === 'snapshot'
      ? hashesOf([reading, ...earlier].map(({ content }) => content)).map((hash) => ({
          eventId: event.id,
          ref: reading.ref,
          contentHash: hash,
        }))
      : [],
  );
  const inSet =
    contents.length > 0 ? await readEventsWithSnapshot(tx, contents) : new Set<number>();
  const unexplained = done
    .filter(({ event }) => !inSet.has(event.id))
    .map(({ event }) => eventSubject(event.id));
  const found = unexplained.length > 0 ? await readFindings(tx, unexplained) : [];
  const findings = groupBy(found, ({ subject }) => subject);
  for (const { event, reading } of rows) {
    const subject = eventSubject(event.id);
    const problem = inboxProblem({
      reading,
      isPending: event.isPending,
      isDead: event.isDead,
      hasSnapshot: inSet.has(event.id),
      findings: findings.get(subject) ?? [],
    });
    tally.report('inbox', { subject, event: event.id }, problem === undefined ? [] : [problem]);
  }
  tally.addChecked('inbox', rows.length);
}

/** Hashes of the contents, also without the fields that the first version did not read. */
function hashesOf(contents: readonly SnapshotContent[]): readonly string[] {
  return [...new Set([...contents, ...contents.map(withoutAddedFields)].map(contentHash))];
}

/** A pending event that is not in the inbox was acknowledged and lost. */
async function checkPending({ db, tally }: Run): Promise<void> {
  const lost = await readConsistently(db, (tx) => readUnboundPending(tx, MAX_OFFENDERS));
  for (const id of lost) {
    tally.report('inbox', { subject: eventSubject(id), event: id }, [
      'it is pending, but not in the inbox',
    ]);
  }
}
