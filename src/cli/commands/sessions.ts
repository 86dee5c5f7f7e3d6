import { Command } from 'commander';
import { readSessionRows, type SessionRow } from '../../access/store/sessions.ts';
import { endSessionAs } from '../../actions/endSession.ts';
import { NotFoundError } from '../../platform/errors.ts';
import { sessionJson } from '../../representation/session.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { newestFirstCommand } from '../newestFirst.ts';
import { jsonOption, readNumberOf } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function sessionsCommand(): Command {
  return new Command('sessions').addCommand(listCommand()).addCommand(endCommand());
}

function listCommand(): Command {
  return newestFirstCommand({
    description: 'list sessions of the console, newest first: who is signed in, and from where',
    read: (db, page) =>
      readSessionRows(db, { ...page, idleMs: readConfig().consoleSessions.idleMs }),
    name: 'sessions',
    toJson: sessionJson,
    print: printSessions,
    none: 'Nobody is signed in.',
  });
}

function printSessions(sessions: readonly SessionRow[]): void {
  printTable(
    ['NUMBER', 'PERSON', 'SIGN-IN', 'LAST SEEN', 'ADDRESS', 'ENDS'],
    sessions.map((session) => [
      String(session.id),
      session.holder,
      session.signIn,
      formatTime(session.lastSeenAt),
      session.origin ?? '',
      formatTime(session.expiresAt),
    ]),
  );
}

interface EndOptions {
  readonly reason: string;
  readonly everywhere: boolean;
  readonly by?: string;
  readonly json: boolean;
}

function endCommand(): Command {
  return new Command('end')
    .description('end a session of the console, or all sessions of its person')
    .argument('<number>', 'number of the session, as in `sessions list`', readNumberOf('a session'))
    .addOption(reasonOption('why you end it; recorded with your name'))
    .option('--everywhere', 'end all sessions of the same person', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nPages of the session stop working within five seconds.\n\nExit code: 0 ended, 3 there is no such session.',
    )
    .action((id: number, { reason, everywhere, by, json }: EndOptions) =>
      withDatabase(readConfig(), async (db) => {
        const request = { id, everywhere, reason };
        const ended = await endSessionAs({ db }, actorOf(by), request);
        if (!ended) {
          throw new NotFoundError(
            `There is no session ${id}, or it has ended already. \`npx tallyhook sessions list\` shows the open ones.`,
          );
        }
        if (json) printJson(ended);
        else printLine(`Ended ${ended.sessions} of ${ended.holder}.`);
      }),
    );
}
