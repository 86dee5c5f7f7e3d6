import { Command } from 'commander';
import { filterOf, readEventFilter } from '../../ledger/read/eventFilter.ts';
import type { FollowQuery } from '../../ledger/read/followInbox.ts';
import { searchEvents } from '../../ledger/read/store/events.ts';
import type { EventSummary } from '../../ledger/read/store/parts.ts';
import type { Database } from '../../platform/db/database.ts';
import { eventJson } from '../../representation/event.ts';
import { formatTime } from '../../representation/time.ts';
import { printJsonLine, readConfig, withDatabase } from '../context.ts';
import {
  addFollowOptions,
  type Follow,
  followEvents,
  forEachEvent,
  untilStopped,
} from '../following.ts';
import { printLine, printNote } from '../invocation.ts';
import { jsonOption, lastOption } from '../options.ts';

interface TailOptions extends FollowQuery {
  readonly last: number;
  readonly json: boolean;
}

export function tailCommand(): Command {
  return addFollowOptions(new Command('tail'))
    .addOption(lastOption())
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action((options: TailOptions) =>
      withDatabase(readConfig(), (db) => untilStopped((parts) => tail(options, { db, ...parts }))),
    );
}

const NOTES = `
Prints each event once, in the order of the inbox, also after the installation was unreachable. After a
failover of the database, the last events are printed again. With --order, an event is printed once it is
applied. With --json each line is one event, as in \`events list --json\`.

Examples:

  tallyhook tail
  tallyhook tail --type dispute_opened --last 0
  tallyhook tail --order ord_1001 --json

Exit code: 0 stopped by a signal.`;

async function tail({ type, order, last, json }: TailOptions, follow: Follow): Promise<void> {
  const query = { type, order };
  const { newest, events } = await followEvents(follow, query, undefined);
  const print = (event: EventSummary): void =>
    json ? printJsonLine(eventJson(event)) : printLine(lineOf(event));
  if (last > 0) {
    const found = await follow.read(() => lastEvents(follow.db, query, { newest, last }));
    found.toReversed().forEach(print);
  }
  printNote(`Ready. Events after ${newest} follow as they arrive.`);
  await forEachEvent(follow, events, (event) => Promise.resolve(print(event)));
}

async function lastEvents(
  db: Database,
  query: FollowQuery,
  { newest, last }: { readonly newest: number; readonly last: number },
): Promise<readonly EventSummary[]> {
  const filter = filterOf(await readEventFilter(db, query));
  return (await searchEvents(db, filter, { below: newest + 1, limit: last })).rows;
}

function lineOf({ id, eventId, eventType, receivedAt }: EventSummary): string {
  const names = [String(id), eventType ?? '-', eventId ?? '(no envelope)'];
  return [formatTime(receivedAt), ...names].join('  ');
}
