import { Command } from 'commander';
import { type ProcessRow, readProcesses } from '../../monitor/store/processes.ts';
import { processJson, processStateOf } from '../../representation/process.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine, printText } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { printTable } from '../table.ts';

const MAX_PROCESSES = 200;

export function processesCommand(): Command {
  return new Command('processes')
    .description('list the processes of the installation, with version and health')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Each process reports every ten seconds. One that stops cleanly leaves the list. One that was killed, or
cannot reach the database, is missing after 30 seconds, and stays in the list for a day.

Exit code: 0.`,
    )
    .action(({ json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const rows = await readProcesses(db, MAX_PROCESSES);
        if (json) printJson({ processes: rows.map(processJson) });
        else if (rows.length === 0) printLine('No process runs. `npx tallyhook start` starts one.');
        else print(rows);
      }),
    );
}

function print(rows: readonly ProcessRow[]): void {
  printTable(
    ['HOST', 'PID', 'ROLES', 'VERSION', 'STATE', 'STARTED', 'LAST SEEN', 'FAILED CHECKS'],
    rows.map((row) => [
      row.host,
      String(row.pid),
      row.roles.join(', '),
      row.version,
      processStateOf(row).replace('_', ' '),
      formatTime(row.startedAt),
      formatTime(row.seenAt),
      row.failures.join('; '),
    ]),
  );
  const versions = new Set(rows.filter(({ isSeen }) => isSeen).map(({ version }) => version));
  if (versions.size > 1) printText(`\nVersions differ: ${[...versions].join(', ')}.`);
}
