import { Command } from 'commander';
import { inspectedQueues, openQueues } from '../../assembly/queues.ts';
import { type QueuesReport, readQueues } from '../../monitor/read/queues.ts';
import { queuesJson } from '../../representation/queue.ts';
import { clockOf, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { endAs, printText } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { printTable } from '../table.ts';

export function queuesCommand(): Command {
  return new Command('queues')
    .description('show each queue beside what is due by the database')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Adds a job to the queue "probe", and finishes it. DUE counts pending events or messages in the database,
which decides: lost jobs are enqueued again from it. Failed jobs are kept for a week.

Exit code: 0 the queue works, 5 it refuses work.`,
    )
    .action(async ({ json }: { readonly json: boolean }) => {
      const config = readConfig();
      await withDatabase(config, async (db, databaseUrl) => {
        const backend = openQueues(config, { databaseUrl, log: quiet });
        const { access, close } = inspectedQueues(backend);
        try {
          const report = await readQueues(access, { db, clock: await clockOf(db) });
          if (json) printJson(queuesJson(report));
          else print(report);
          if (report.problem) endAs('unavailable');
        } finally {
          await close();
          await backend.close();
        }
      });
    });
}

function print({ backend, problem, queues }: QueuesReport): void {
  const where = backend === 'redis' ? 'Redis' : 'PostgreSQL';
  printText(
    problem
      ? `The queues in ${where} refuse work: ${problem.reason}. ${problem.remedy}\n`
      : `The queues are in ${where}. A job was added, claimed and finished.\n`,
  );
  printTable(
    [
      'QUEUE',
      'WAITING',
      'ACTIVE',
      'DELAYED',
      'FAILED',
      'OLDEST (S)',
      'DUE',
      'OLDEST DUE (S)',
      'NOTE',
    ],
    queues.map(({ name, depth, oldestWaitingSeconds, inDatabase, error, failed }) => [
      name,
      ...(['waiting', 'active', 'delayed', 'failed'] as const).map((state) =>
        depth ? String(depth.jobs[state]) : '?',
      ),
      oldestWaitingSeconds === undefined ? '' : oldestWaitingSeconds.toFixed(0),
      inDatabase ? String(inDatabase.due) : '',
      inDatabase ? inDatabase.oldestAgeSeconds.toFixed(0) : '',
      error ?? failed[0]?.error ?? '',
    ]),
  );
}
