import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { forwardEventsAs } from '../../actions/forwardEvents.ts';
import { SIGNATURE_HEADER } from '../../contract/signature.ts';
import { type BodyAbsence, describeAbsence } from '../../ledger/domain/bodyAbsence.ts';
import { readEventBodies } from '../../ledger/read/eventBodies.ts';
import type { FollowQuery } from '../../ledger/read/followInbox.ts';
import type { EventSummary } from '../../ledger/read/store/parts.ts';
import { counted } from '../../platform/counted.ts';
import { UnavailableError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { printJsonLine, readConfig, withDatabase } from '../context.ts';
import {
  addFollowOptions,
  type Follow,
  followEvents,
  forEachEvent,
  untilStopped,
} from '../following.ts';
import {
  type ForwardResult,
  forwardEvent,
  NUMBER_HEADER,
  REPEAT_HEADER,
  type Target,
  type Unreachable,
} from '../forward.ts';
import { printLine, printNote } from '../invocation.ts';
import { jsonOption, parseMinutes, readNumberOf } from '../options.ts';
import { actorOf, byOption } from '../person.ts';

interface ListenOptions extends FollowQuery {
  readonly forwardTo: URL;
  readonly secret?: string;
  readonly after?: number;
  readonly giveUpAfter: number;
  readonly by?: string;
  readonly json: boolean;
}

export function listenCommand(): Command {
  const listen = new Command('listen').addOption(
    new Option('--forward-to <url>', 'address to forward to, such as http://localhost:3000/hook')
      .argParser(parseUrl)
      .makeOptionMandatory(),
  );
  return addFollowOptions(listen)
    .option('--secret <secret>', 'sign with this secret (default: a new one, printed at the start)')
    .option(
      '--after <number>',
      'begin after this event of the inbox (default: with the next one to arrive)',
      readNumberOf('an event of the inbox'),
    )
    .addOption(
      new Option('--give-up-after <minutes>', 'end after so many minutes without a response')
        .default(60)
        .argParser(parseMinutes),
    )
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action((options: ListenOptions) =>
      withDatabase(readConfig(), (db) =>
        untilStopped((parts) => forwardAll(options, { db, ...parts })),
      ),
    );
}

const NOTES = `
Forwards every event that the installation receives, in the order of the inbox: the body byte for byte,
signed with the secret of this command in ${SIGNATURE_HEADER}. ${NUMBER_HEADER} has its number.
Any response counts as received. Without a response the event is sent again until there is one, and what
follows waits. If the installation is unreachable, the command continues where it was, and after a failover
of its database somewhat before. An event that may
have been forwarded before has the header ${REPEAT_HEADER}: true and "repeat" in its line.

With --order, an event is forwarded once it is applied. With --json each line is one event.
Bodies hold personal data: the audit log has who forwarded them, and where to.

Examples:

  tallyhook listen --forward-to http://localhost:3000/webhooks
  tallyhook listen --forward-to http://localhost:3000/webhooks --type refund_failed
  tallyhook listen --forward-to http://localhost:3000/webhooks --after 1041 --json

Exit code: 0 stopped by a signal, 5 given up.`;

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  if (isUsable) return url;
  throw new InvalidArgumentError(
    'Give an http or https address without a user, such as http://localhost:3000/webhooks.',
  );
}

async function forwardAll(options: ListenOptions, follow: Follow): Promise<void> {
  const { forwardTo, type, order, after, by } = options;
  const query = { type, order };
  const { newest, events, repeatsThrough } = await followEvents(follow, query, after);
  const secret = options.secret ?? randomBytes(24).toString('base64url');
  const url = `${forwardTo.origin}${forwardTo.pathname}`;
  const target = {
    url: forwardTo.href,
    secret,
    giveUpAfterMs: options.giveUpAfter * MINUTE_MS,
    signal: follow.signal,
    onUnreachable: (failure: Unreachable) => printUnreachable(url, failure),
  };
  let last = after ?? newest;
  let count = 0;
  const forwardOne = async (event: EventSummary): Promise<void> => {
    const isRepeat = event.id <= Math.max(newest, repeatsThrough());
    const isForwarded = await handle({ ...follow, target, options, isRepeat }, event);
    if (isForwarded) count += 1;
    last = event.id;
  };
  const forward = async (): Promise<number> => {
    if (options.secret === undefined) printNote(`Signing secret of this command: ${secret}`);
    printNote(`Ready. Events after ${last} are forwarded to ${url}.`);
    await forEachEvent(follow, events, forwardOne);
    return count;
  };
  try {
    await forwardEventsAs({ db: follow.db, forward }, actorOf(by), { url, query, after });
  } finally {
    printNote(`Forwarded ${counted(count, 'event')}. To continue later, add --after ${last}.`);
  }
}

interface Handling extends Follow {
  readonly target: Target;
  readonly options: ListenOptions;
  readonly isRepeat: boolean;
}

/** @returns whether it was forwarded; without a body it cannot be */
async function handle(
  { db, read, target, options, isRepeat }: Handling,
  event: EventSummary,
): Promise<boolean> {
  const stored = (await read(() => readEventBodies(db, [event.id]))).get(event.id);
  if (!stored?.body) {
    printMissing(options, event, stored?.absence ?? { outcome: 'unexplained' });
    return false;
  }
  const { body } = stored;
  const result = await forwardEvent(target, { number: event.id, body, isRepeat });
  if (result.outcome === 'given_up') {
    throw new UnavailableError(
      `No response to event ${event.id} within ${options.giveUpAfter} minutes (${printable(result.reason)}). It was not skipped.`,
    );
  }
  printForwarded(options, event, result);
  return true;
}

const lineJson = (event: EventSummary) => ({
  number: event.id,
  event_id: event.eventId,
  event_type: event.eventType,
  received_at: event.receivedAt.toISOString(),
});

function printForwarded(
  { json }: ListenOptions,
  event: EventSummary,
  { status, durationMs, isRepeat }: Extract<ForwardResult, { readonly outcome: 'responded' }>,
): void {
  const ms = Math.round(durationMs);
  if (json) {
    const response = { status, duration_ms: ms, repeat: isRepeat, body_absence: null };
    printJsonLine({ ...lineJson(event), ...response });
    return;
  }
  printLine(`${nameOf(event)}  ${status}  ${ms} ms${isRepeat ? '  repeat' : ''}`);
}

function printMissing({ json }: ListenOptions, event: EventSummary, absence: BodyAbsence): void {
  const why = describeAbsence(absence);
  if (json) {
    const response = { status: null, duration_ms: null, repeat: false, body_absence: why };
    printJsonLine({ ...lineJson(event), ...response });
    return;
  }
  printLine(`${nameOf(event)}  not forwarded: ${why}`);
}

function nameOf({ id, eventId, eventType }: EventSummary): string {
  return [String(id), eventType ?? '-', eventId ?? '(no envelope)'].join('  ');
}

function printUnreachable(url: string, failure: Unreachable): void {
  const { number, reason, nextDelayMs, attempts } = failure;
  printNote(
    `No response from ${url} to event ${number} (${reason}). Attempt ${attempts + 1} follows in ${nextDelayMs / 1000} s, marked as a repeat.`,
  );
}
