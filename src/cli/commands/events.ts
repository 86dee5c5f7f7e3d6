import { Command } from 'commander';
import { discardEventAs } from '../../actions/discardEvent.ts';
import {
  type RefusedReplay,
  type Replayed,
  type ReplayParts,
  replayEventsAs,
} from '../../actions/replayEvents.ts';
import { replayDeadAs } from '../../actions/replayRuns.ts';
import { describeAbsence } from '../../ledger/domain/bodyAbsence.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { batchJob, EVENTS_QUEUE, type EventsJob } from '../../ledger/inbox/jobs.ts';
import { type EventDetail, readEventDetail } from '../../ledger/read/eventDetail.ts';
import { readEventListFilter } from '../../ledger/read/eventFilter.ts';
import { searchEvents } from '../../ledger/read/store/events.ts';
import {
  type EventSummary,
  findEvent,
  isNumberPassed,
  readVersionAhead,
  type VersionAhead,
} from '../../ledger/read/store/parts.ts';
import { readVariants, type VariantRow } from '../../ledger/read/store/variants.ts';
import { inChunks } from '../../platform/collections.ts';
import { counted } from '../../platform/counted.ts';
import type { Database } from '../../platform/db/database.ts';
import { NotFoundError, OperatorError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { timePlace } from '../../representation/cursor.ts';
import { eventJson, eventWithBodyJson, variantJson } from '../../representation/event.ts';
import { formatTime } from '../../representation/time.ts';
import { type EventChanges, readEventChanges } from '../../trail/eventChanges.ts';
import { eventChangesJson } from '../../trail/eventChangesJson.ts';
import { bodyFileOption, writeEventBody } from '../bodyFile.ts';
import { printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { addEventOptions, type EventFilterOptions, eventQueryOf } from '../eventOptions.ts';
import { endAs, printLine, printNote, printText } from '../invocation.ts';
import { jsonOption, limitOption, readNumberOf } from '../options.ts';
import {
  cursorOption,
  type PageOptions,
  placeOf,
  printPage,
  printSearched,
  readToEnd,
  searchPage,
} from '../paging.ts';
import { actorOf, byOption, optionalReason, reasonOption } from '../person.ts';
import { type Counted, withProgress } from '../progress.ts';
import { printTable } from '../table.ts';
import { unknownId } from '../unknownId.ts';
import { printEventChanges } from './eventChanges.ts';

export function eventsCommand(): Command {
  return new Command('events')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(variantsCommand())
    .addCommand(replayCommand())
    .addCommand(discardCommand());
}

interface ListOptions extends PageOptions, EventFilterOptions {
  readonly replay?: number;
}

function listCommand(): Command {
  const list = new Command('list').description('list events, newest first');
  return addEventOptions(list)
    .option(
      '--replay <number>',
      'only events that this replay of many has chosen',
      readNumberOf('a replay'),
    )
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action((options: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { replay } = options;
        const filter = await readEventListFilter(db, { ...eventQueryOf(options), replay });
        const found = await searchPage(options, (page) => searchEvents(db, filter, page));
        printSearched(found, options, {
          name: 'events',
          toJson: eventJson,
          print: printEvents,
          none: 'No such events.',
        });
      }),
    );
}

function printEvents(events: readonly EventSummary[]): void {
  printTable(
    ['INBOX', 'EVENT', 'TYPE', 'STATE', 'ATTEMPTS', 'SECRET', 'RECEIVED'],
    events.map(({ id, eventId, eventType, state, attempts, secretFingerprint, receivedAt }) => [
      String(id),
      eventId ?? '(no envelope)',
      eventType ?? '-',
      state,
      String(attempts),
      secretFingerprint ?? '-',
      formatTime(receivedAt),
    ]),
  );
}

interface ShowOptions {
  readonly output?: string;
  readonly json: boolean;
}

function showCommand(): Command {
  return new Command('show')
    .description('show one event with its body, its findings and what it changed')
    .argument('<id>', 'event id or inbox number')
    .addOption(bodyFileOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 no such event, or no body to write.')
    .action((id: string, { json, output }: ShowOptions) =>
      withDatabase(readConfig(), async (db) => {
        const event = await mustFind(db, id);
        const detail = await readEventDetail(db, event.id);
        if (!detail) throw new NotFoundError(`The event ${printable(id)} is no longer stored.`);
        if (output !== undefined) await writeEventBody(db, event.id, output);
        const changes = await readEventChanges(db, event);
        if (json) {
          printJson({ ...eventWithBodyJson(event, detail), changed: eventChangesJson(changes) });
          return;
        }
        printEvent(event, detail, changes);
      }),
    );
}

function printEvent(event: EventSummary, detail: EventDetail, changes: EventChanges): void {
  const { body, variants, findings } = detail;
  printEvents([event]);
  if (event.error !== null) printLine(`Error: ${event.error}`);
  if (event.discardedAt !== null) {
    const who = `${event.discardedBy}, ${formatTime(event.discardedAt)}`;
    printLine(`Discarded by ${who}: ${event.discardedReason}`);
  }
  for (const finding of findings) {
    const seen = JSON.stringify(finding.detail);
    printLine(`Finding (${finding.state}): ${finding.class} ${seen}`);
  }
  if (!detail.areFindingsComplete) {
    printLine(
      `There are more findings about it: \`npx tallyhook findings list --subject event:${event.id} --state any\`.`,
    );
  }
  printEventChanges(changes);
  printText(
    Buffer.isBuffer(body) ? body.toString('utf8') : `No body is stored: ${describeAbsence(body)}.`,
  );
  printVariants(variants);
  if (!detail.areVariantsComplete) {
    printLine(
      `More bodies arrived under this event id: \`npx tallyhook events variants ${event.id}\`.`,
    );
  }
}

function printVariants(variants: readonly VariantRow[]): void {
  for (const { body } of variants) {
    printLine('Another body arrived under this event id and was not applied:');
    printText(body ? body.toString('utf8') : '(removed)');
  }
}

function variantsCommand(): Command {
  return new Command('variants')
    .description('print the other bodies that arrived under the id of an event, oldest first')
    .argument('<id>', 'event id or inbox number')
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 no such event.')
    .action((id: string, page: PageOptions) =>
      withDatabase(readConfig(), async (db) => {
        const place = placeOf(page.cursor, timePlace);
        const variants = await readVariants(db, (await mustFind(db, id)).id, {
          after: place && { at: place[0], bodySha256: place[1] },
          limit: page.limit + 1,
        });
        printPage(variants, page, {
          name: 'variants',
          placeOf: ({ receivedMicros, bodySha256 }) => [formatInstant(receivedMicros), bodySha256],
          toJson: variantJson,
          print: printVariants,
          none: 'No other body arrived under this event id.',
        });
      }),
    );
}

interface DiscardOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function discardCommand(): Command {
  return new Command('discard')
    .description('decide that a dead event will not be applied')
    .argument('<id>', 'event id or inbox number')
    .addOption(reasonOption('why; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIt counts no more as dead, keeps its body, and can still be replayed.\n\nExit code: 0 discarded, 3 there is no such event, 4 it is not dead.',
    )
    .action((id: string, { reason, by, json }: DiscardOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { id: number, state } = await mustFind(db, id);
        const input = { number, reason };
        if (!(await discardEventAs({ db }, actorOf(by), input))) {
          throw new OperatorError(
            `The event ${number} is ${state}, not dead. Nothing was changed.`,
          );
        }
        if (json) printJson(eventJson(await mustFind(db, String(number))));
        else printLine(`The event ${number} is discarded.`);
      }),
    );
}

/** Events that are replayed and enqueued together. */
const REPLAYED_AT_ONCE = 1_000;

interface ReplayOptions {
  readonly dead: boolean;
  readonly versionAhead: boolean;
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function replayCommand(): Command {
  return new Command('replay')
    .description('apply events again; replaying is idempotent')
    .argument('[ids...]', 'event ids or inbox numbers')
    .option('--dead', 'replay all dead events, as one replay of many', false)
    .option('--version-ahead', 'replay all events with a version in the future', false)
    .addOption(optionalReason('why --dead replays them').default('all dead events'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 done, 3 an event is unknown, 4 one has no body anymore.')
    .action((ids: readonly string[], options: ReplayOptions) =>
      withDatabase(readConfig(), async (db, databaseUrl) => {
        const named = await findReplayable(db, { ...options, ids });
        const enqueueThem = (inboxIds: readonly number[]) => enqueue(databaseUrl, inboxIds);
        const parts = { db, enqueue: enqueueThem };
        const one = await replayNamed(parts, named, options);
        const all = options.dead ? await replayDead(parts, options) : NONE_REPLAYED;
        const replayed = [...one.replayed, ...all.replayed];
        const enqueued = one.isEnqueued && all.isEnqueued;
        if (options.json) printJson({ replayed, enqueued, replay: all.run });
        else printLine(`${counted(replayed.length, 'event')} will be applied again.`);
      }),
    );
}

interface CommandResult {
  readonly replayed: readonly number[];
  readonly isEnqueued: boolean;
  /** The number of the replay of many. */
  readonly run: number | null;
}

const NONE_REPLAYED: CommandResult = { replayed: [], isEnqueued: true, run: null };

async function replayNamed(
  parts: ReplayParts,
  inboxIds: readonly number[],
  { by }: ReplayOptions,
): Promise<CommandResult> {
  const numbers: number[] = [];
  let isEnqueued = true;
  for (const batch of inChunks(inboxIds, REPLAYED_AT_ONCE)) {
    const replayed = await replayEventsAs(parts, actorOf(by), batch);
    printTrouble(replayed);
    numbers.push(...replayed.replayed);
    isEnqueued = isEnqueued && replayed.outcome === 'enqueued';
  }
  return { replayed: numbers, isEnqueued, run: null };
}

async function replayDead(
  parts: ReplayParts,
  { by, reason }: ReplayOptions,
): Promise<CommandResult> {
  const dead = await withProgress((show) => {
    const onProgress = (progress: Counted) => show({ phase: 'events', ...progress });
    return replayDeadAs({ ...parts, onProgress }, actorOf(by), reason);
  });
  const { run, replayed, refused, notEnqueued, isComplete } = dead;
  if (notEnqueued !== undefined) printUnavailable(notEnqueued);
  printRefused(refused);
  if (!isComplete) {
    printNote(
      `The replay ${run} was stopped, or another process continues it: \`npx tallyhook replays show ${run}\`.`,
    );
  }
  return { replayed, isEnqueued: notEnqueued === undefined, run: run ?? null };
}

function printTrouble(replayed: Replayed): void {
  if (replayed.outcome === 'left_to_sweep') printUnavailable(replayed.reason);
  printRefused(replayed.refused);
}

function printUnavailable(reason: string): void {
  printNote(`The queue is unavailable (${reason}); the sweep enqueues them within two minutes.`);
}

function printRefused(refused: readonly RefusedReplay[]): void {
  for (const { number, reason } of refused) {
    printNote(`The event ${number} cannot be replayed: ${reason}.`);
  }
  if (refused.length > 0) endAs('refused');
}

/** The named events, and those with a version in the future. */
async function findReplayable(
  db: Database,
  {
    ids,
    dead,
    versionAhead,
  }: Pick<ReplayOptions, 'dead' | 'versionAhead'> & { readonly ids: readonly string[] },
): Promise<readonly number[]> {
  if (ids.length === 0 && !dead && !versionAhead) {
    throw new UsageError('Name the events to replay, or use --dead or --version-ahead.');
  }
  const named: number[] = [];
  for (const id of ids) named.push((await mustFind(db, id)).id);
  const ahead = versionAhead
    ? await readToEnd((last: VersionAhead | undefined, limit) =>
        readVersionAhead(db, { after: last?.findingId, limit }),
      )
    : [];
  return [...new Set([...named, ...ahead.map(({ eventNumber }) => eventNumber)])];
}

async function enqueue(databaseUrl: string, inboxIds: readonly number[]): Promise<void> {
  // Loaded here, because it takes longer than the commands that only read.
  const { openQueues } = await import('../../assembly/queues.ts');
  const queues = openQueues(readConfig(), { databaseUrl, log: quiet });
  const producer = queues.producer<EventsJob>(EVENTS_QUEUE);
  try {
    await producer.add([batchJob(inboxIds)]);
  } finally {
    await producer.close();
    await queues.close();
  }
}

async function mustFind(db: Database, id: string): Promise<EventSummary> {
  const event = await findEvent(db, id);
  if (event) return event;
  throw await unknownId(db, {
    id,
    kinds: ['event'],
    message: `No event is known as ${printable(id)}.`,
    next: (await isNumberPassed(db, id))
      ? 'Newer events are stored: retention removed it, or its number was never used. ' +
        '`npx tallyhook retention show` shows how long events are kept.'
      : '`npx tallyhook events list` shows the inbox.',
  });
}
