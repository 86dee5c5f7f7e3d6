import { Command } from 'commander';
import { runScheduleAs } from '../../actions/runSchedule.ts';
import { schedulesOf } from '../../assembly/settings.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { scheduleJson } from '../../representation/schedule.ts';
import { formatTime } from '../../representation/time.ts';
import type { ScheduleState } from '../../scheduler/domain/state.ts';
import { readSchedules } from '../../scheduler/readSchedules.ts';
import { clockOf, printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function scheduleCommand(): Command {
  return new Command('schedule').addCommand(listCommand()).addCommand(runCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('list the schedules with their latest run and next slot')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA schedule without a recorded run runs in each scheduler.\n\nExit code: 0.',
    )
    .action(async ({ json }: { readonly json: boolean }) => {
      const config = readConfig();
      await withDatabase(config, async (db) => {
        const clock = await clockOf(db);
        const states = await readSchedules({ db, clock }, schedulesOf(config));
        if (json) printJson({ schedules: states.map(scheduleJson) });
        else print(states);
      });
    });
}

function print(states: readonly ScheduleState[]): void {
  printTable(
    ['NAME', 'EVERY', 'LAST SLOT', 'RESULT', 'SECONDS', 'NEXT SLOT', 'NOTE'],
    states.map(({ name, every, run, result, durationMs, nextAt, ...state }) => [
      name,
      every,
      formatTime(run?.at ?? null),
      result,
      durationMs === undefined ? '' : (durationMs / 1000).toFixed(1),
      formatTime(nextAt ?? null),
      [
        ...(state.isOverdue ? ['overdue'] : []),
        ...(state.request ? [`requested by ${state.request.requestedBy}`] : []),
        ...(run?.error ? [run.error] : []),
      ].join('; '),
    ]),
  );
}

interface RunOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function runCommand(): Command {
  return new Command('run')
    .description('run a schedule at once')
    .argument('<name>', 'name of the schedule, as in `schedule list`')
    .addOption(reasonOption('why you run it; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
A process with the role scheduler starts the run within seconds, after one that is under way has ended.
\`schedule list\` shows it.

Exit code: 0 requested, 3 there is no such schedule, 4 a run is already requested.`,
    )
    .action(async (name: string, { reason, by, json }: RunOptions) => {
      const config = readConfig();
      await withDatabase(config, async (db) => {
        const parts = { db, schedules: schedulesOf(config) };
        const request = { name, reason };
        const requested = await runScheduleAs(parts, actorOf(by), request);
        if (requested.outcome === 'unknown') throw new NotFoundError(requested.message);
        if (requested.outcome !== 'requested') throw new OperatorError(requested.message);
        if (json) printJson({ name });
        else printLine(`Requested. \`npx tallyhook schedule list\` shows the run of ${name}.`);
      });
    });
}
