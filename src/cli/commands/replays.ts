import { Command } from 'commander';
import { planReplay, startReplayAs, stopReplayAs } from '../../actions/replayRuns.ts';
import { readEventFilter } from '../../ledger/read/eventFilter.ts';
import {
  type ReplayRun,
  readReplayRun,
  readReplayRuns,
} from '../../ledger/read/store/replayRuns.ts';
import { counted } from '../../platform/counted.ts';
import type { Database } from '../../platform/db/database.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { replayJson } from '../../representation/replay.ts';
import { formatTime } from '../../representation/time.ts';
import { confirm } from '../confirm.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { addEventOptions, type EventFilterOptions, eventQueryOf } from '../eventOptions.ts';
import { printLine } from '../invocation.ts';
import { newestFirstCommand } from '../newestFirst.ts';
import { jsonOption, readNumberOf } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function replaysCommand(): Command {
  return new Command('replays')
    .addCommand(startCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(stopCommand());
}

interface StartOptions extends EventFilterOptions {
  readonly reason: string;
  readonly by?: string;
  readonly yes: boolean;
  readonly json: boolean;
}

function startCommand(): Command {
  const start = new Command('start').description(
    'replay the events of a filter in the background; replaying is idempotent',
  );
  return addEventOptions(start)
    .addOption(reasonOption('why; recorded with your name'))
    .option('--yes', 'start without a prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA process with the role `scheduler` carries it out. Exit code: 0 started, 3 nothing matches.',
    )
    .action(({ reason, by, yes, json, ...options }: StartOptions) =>
      withDatabase(readConfig(), async (db) => {
        const filter = await readEventFilter(db, eventQueryOf(options));
        const { count, isComplete } = await planReplay({ db }, filter);
        if (count === 0 && isComplete) throw new NotFoundError('No event matches.');
        await confirm(
          isComplete ? `Replay ${counted(count, 'event')}?` : `Replay ${count} events or more?`,
          yes,
        );
        const input = { filter, reason };
        const run = await startReplayAs({ db }, actorOf(by), input);
        if (json) printJson(replayJson(run));
        else printLine(`Replay ${run.id} has started: \`npx tallyhook replays show ${run.id}\`.`);
      }),
    );
}

function listCommand(): Command {
  return newestFirstCommand({
    description: 'list replays of many events, newest first',
    read: readReplayRuns,
    name: 'replays',
    toJson: replayJson,
    print: printRuns,
    none: 'No replays.',
  });
}

function printRuns(runs: readonly ReplayRun[]): void {
  printTable(
    ['NUMBER', 'STATE', 'REQUESTED', 'BY', 'PLANNED', 'REPLAYED', 'REFUSED', 'REASON'],
    runs.map((run) => [
      String(run.id),
      run.state,
      formatTime(run.requestedAt),
      run.requestedBy,
      `${run.planned}${run.isPlannedComplete ? '' : '+'}`,
      String(run.replayed),
      String(run.refused),
      run.reason,
    ]),
  );
}

function showCommand(): Command {
  return new Command('show')
    .description('show a replay of many events with its progress')
    .argument('<number>', 'number of the replay', readNumberOf('a replay'))
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 no such replay.')
    .action((id: number, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const run = await mustRead(db, id);
        if (json) {
          printJson(replayJson(run));
          return;
        }
        printRuns([run]);
        for (const { number, reason } of run.refusals) {
          printLine(`The event ${number} cannot be replayed: ${reason}.`);
        }
      }),
    );
}

function stopCommand(): Command {
  return new Command('stop')
    .description('stop a replay of many events; events that it replayed stay so')
    .argument('<number>', 'number of the replay', readNumberOf('a replay'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 stopped, 3 no such replay, 4 it does not run.')
    .action((id: number, { by, json }: { readonly by?: string; readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const { state } = await mustRead(db, id);
        if (!(await stopReplayAs({ db }, actorOf(by), id))) {
          throw new OperatorError(`Replay ${id} is ${state}. Nothing was changed.`);
        }
        if (json) printJson(replayJson(await mustRead(db, id)));
        else printLine(`Replay ${id} is stopped.`);
      }),
    );
}

async function mustRead(db: Database, id: number): Promise<ReplayRun> {
  const run = await readReplayRun(db, id);
  if (run) return run;
  throw new NotFoundError(
    `There is no replay ${id}. \`npx tallyhook replays list\` shows those that exist.`,
  );
}
