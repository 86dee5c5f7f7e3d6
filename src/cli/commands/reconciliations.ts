import { Command } from 'commander';
import { stopReconciliationAs } from '../../actions/stopReconciliation.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { verdictOf } from '../../reconcile/domain/verdict.ts';
import { type RunRow, readRuns } from '../../reconcile/store/runs.ts';
import { reconciliationJson } from '../../representation/reconciliation.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { newestFirstCommand } from '../newestFirst.ts';
import { jsonOption, readNumberOf } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { printTable } from '../table.ts';

export function reconciliationsCommand(): Command {
  return new Command('reconciliations')
    .addCommand(
      newestFirstCommand({
        description: 'list reconcile runs, newest first',
        read: (db, page) => readRuns(db, { ...page, stream: undefined }),
        name: 'reconciliations',
        toJson: reconciliationJson,
        print: printRuns,
        none: 'No reconcile runs.',
      }),
    )
    .addCommand(stopCommand());
}

function printRuns(runs: readonly RunRow[]): void {
  printTable(
    ['NUMBER', 'LIST', 'VERDICT', 'STATE', 'CAUSE', 'STARTED', 'FOUND', 'REPAIRED', 'REQUESTS'],
    runs.map((run) => [
      String(run.id),
      run.stream,
      verdictOf(run),
      run.state,
      run.isDryRun ? `${run.cause}, dry run` : run.cause,
      formatTime(run.startedAt),
      String(run.found),
      String(run.repaired),
      String(run.requests),
    ]),
  );
}

function stopCommand(): Command {
  return new Command('stop')
    .description('stop a reconcile run; what it compared and repaired stays so')
    .argument('<number>', 'number of the run', readNumberOf('a run'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIt ends before its next request, and no later run resumes it. Exit code: 0 stopped, 3 there is no such run, 4 it has ended.',
    )
    .action((id: number, { by, json }: { readonly by?: string; readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const stopped = await stopReconciliationAs({ db }, actorOf(by), id);
        switch (stopped.outcome) {
          case 'stopped':
            if (json) printJson(reconciliationJson(stopped.run));
            else printLine(`Run ${id} (${stopped.run.stream}) is stopped.`);
            return;
          case 'ended':
            throw new OperatorError(
              `Run ${id} has ended already: it is ${stopped.state}. Nothing was changed.`,
            );
          case 'unknown':
            throw new NotFoundError(
              `There is no run ${id}. \`npx tallyhook reconciliations list\` shows those that exist.`,
            );
        }
      }),
    );
}
