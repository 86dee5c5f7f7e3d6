/** Commands that list and show outgoing messages, and send one again. */
import { Command, Option } from 'commander';
import { resendMessageAs } from '../../actions/resendMessage.ts';
import { channelNamesOf } from '../../notify/channels/targets.ts';
import { CHANNELS, type ChannelName } from '../../notify/domain/message.ts';
import { messageJson } from '../../notify/messageJson.ts';
import {
  MESSAGE_KINDS,
  MESSAGE_STATES,
  type MessageKind,
  type MessageRow,
  type MessageState,
  readMessageRow,
  searchMessages,
} from '../../notify/store/messageRows.ts';
import { counted } from '../../platform/counted.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, limitOption, readNumberOf } from '../options.ts';
import { cursorOption, type PageOptions, printSearched, searchPage } from '../paging.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function messagesCommand(): Command {
  return new Command('messages')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(resendCommand());
}

interface ListOptions extends PageOptions {
  readonly state?: MessageState;
  readonly channel?: ChannelName;
  readonly kind?: MessageKind;
}

function listCommand(): Command {
  return new Command('list')
    .description('list outgoing messages, newest first')
    .addOption(new Option('--state <state>', 'only in this state').choices(MESSAGE_STATES))
    .addOption(new Option('--channel <name>', 'only to this channel').choices(CHANNELS))
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(MESSAGE_KINDS))
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action(({ state, channel, kind, ...page }: ListOptions) => {
      const config = readConfig();
      const toJson = (row: MessageRow) => messageJson(row, config.installation);
      return withDatabase(config, async (db) => {
        const filter = { state, channel, kind };
        const found = await searchPage(page, (place) => searchMessages(db, filter, place));
        printSearched(found, page, {
          name: 'messages',
          toJson,
          print: (shown) => printMessages(shown.map((row) => [row, toJson(row)])),
          none: 'No such messages.',
        });
      });
    });
}

type ShownMessage = readonly [row: MessageRow, message: ReturnType<typeof messageJson>];

function printMessages(messages: readonly ShownMessage[]): void {
  printTable(
    ['NUMBER', 'CHANNEL', 'KIND', 'STATE', 'ATTEMPTS', 'CREATED', 'TITLE'],
    messages.map(([row, message]) => [
      String(message.number),
      message.channel,
      message.kind,
      message.state,
      String(message.attempts),
      formatTime(row.createdAt),
      message.title,
    ]),
  );
}

const NUMBER_HELP = 'number of the message, from `tallyhook messages list`';

function showCommand(): Command {
  return new Command('show')
    .description('show one outgoing message with its attempts and their responses')
    .argument('<number>', NUMBER_HELP, readNumberOf('a message'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 no such message.')
    .action((number: number, { json }: { readonly json: boolean }) => {
      const config = readConfig();
      return withDatabase(config, async (db) => {
        const row = await readMessageRow(db, number);
        if (!row) throw unknownMessage(number);
        const message = messageJson(row, config.installation);
        if (json) {
          printJson(message);
          return;
        }
        for (const line of describe(row, message)) printLine(line);
      });
    });
}

function describe(row: MessageRow, message: ReturnType<typeof messageJson>): readonly string[] {
  return [
    `${message.kind} to ${message.channel}: ${message.state} after ${counted(message.attempts, 'attempt')}, ${message.message_id}`,
    message.title,
    ...message.lines,
    `Created: ${formatTime(row.createdAt)}`,
    ...(row.resentAt === null ? [] : [`Sent again: ${formatTime(row.resentAt)}`]),
    ...(row.nextAttemptAt === null ? [] : [`Next attempt: ${formatTime(row.nextAttemptAt)}`]),
    ...message.attempt_log.map(
      ({ attempt, at, outcome, response }) => `Attempt ${attempt}, ${at}: ${outcome}, ${response}`,
    ),
  ];
}

interface ResendOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function resendCommand(): Command {
  return new Command('resend')
    .description('send a delivered or failed message again, with the same id')
    .argument('<number>', NUMBER_HELP, readNumberOf('a message'))
    .addOption(reasonOption('why; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe content is unchanged: an order webhook has the state of the order at its time.\n\nExit code: 0 it is due, 3 there is no such message, 4 it is still retried, or its channel is not configured.',
    )
    .action((number: number, { reason, by, json }: ResendOptions) => {
      const config = readConfig();
      return withDatabase(config, async (db) => {
        const parts = { db, channels: channelNamesOf(config.channels) };
        const input = { number, reason };
        const resent = await resendMessageAs(parts, actorOf(by), input);
        switch (resent.outcome) {
          case 'due':
            if (json) printJson(messageJson(resent.message, config.installation));
            else printLine(`The message ${number} is sent again to ${resent.message.channel}.`);
            return;
          case 'unknown':
            throw unknownMessage(number);
          case 'already_due':
            throw new OperatorError(`The message ${number} is still retried. Nothing was changed.`);
          case 'no_channel':
            throw new OperatorError(
              `The channel ${resent.message.channel} is not configured. Nothing was changed.`,
            );
        }
      });
    });
}

function unknownMessage(number: number): OperatorError {
  return new NotFoundError(
    `There is no message ${number}. \`npx tallyhook messages list\` lists them.`,
  );
}
