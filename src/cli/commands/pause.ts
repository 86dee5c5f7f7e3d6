import { Command } from 'commander';
import {
  pauseReconciliationAs,
  resumeReconciliationAs,
} from '../../actions/pauseReconciliation.ts';
import { OperatorError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';

interface PauseOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

export function pauseCommand(): Command {
  return new Command('pause')
    .addOption(reasonOption('why you pause it; shown by doctor and in alerts'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 paused, 4 it was already paused.')
    .action(({ reason, by, json }: PauseOptions) =>
      withDatabase(readConfig(), async (db) => {
        const actor = actorOf(by);
        const paused = await pauseReconciliationAs({ db }, actor, { reason });
        if (paused.outcome === 'already') {
          const { pause } = paused;
          const since = pause
            ? ` by ${printable(pause.pausedBy)} since ${formatTime(pause.pausedAt)}: ${printable(pause.reason)}`
            : '';
          throw new OperatorError(`Reconciliation is already paused${since}.`);
        }
        if (json) printJson({ paused: true, by: actor.name, reason });
        else printLine('Background requests are paused. `npx tallyhook resume` ends the pause.');
      }),
    );
}

interface ResumeOptions {
  readonly by?: string;
  readonly json: boolean;
}

export function resumeCommand(): Command {
  return new Command('resume')
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 resumed, 4 it was not paused.')
    .action(({ by, json }: ResumeOptions) =>
      withDatabase(readConfig(), async (db) => {
        const actor = actorOf(by);
        const { outcome } = await resumeReconciliationAs({ db }, actor);
        if (outcome === 'not_paused') throw new OperatorError('Reconciliation is not paused.');
        if (json) printJson({ paused: false, by: actor.name, reason: null });
        else printLine('Background requests are resumed.');
      }),
    );
}
