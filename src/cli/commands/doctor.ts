import { Command } from 'commander';
import { openDatabase } from '../../assembly/database.ts';
import { examineWith } from '../../assembly/doctor.ts';
import { openQueues } from '../../assembly/queues.ts';
import type { Config } from '../../config/config.ts';
import type { Check } from '../../doctor/examine.ts';
import { counted } from '../../platform/counted.ts';
import { createDatabase } from '../../platform/db/database.ts';
import { OperatorError, toError } from '../../platform/errors.ts';
import { printJson, quiet, readConfig } from '../context.ts';
import { endAs, printLine, printNote, printText } from '../invocation.ts';
import { jsonOption } from '../options.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nChanges nothing, except that it adds a job to the queue and finishes it. Starts the embedded database if DATABASE_URL is not set.\n\nExit code: 0 no check failed, 6 a check failed. A check that could not run is reported as not checked.',
    )
    .action(async ({ json }: { readonly json: boolean }) => {
      const checks = await diagnose();
      const healthy = checks.every(({ state }) => state !== 'failed');
      if (json) printJson({ healthy, checks });
      else print(checks);
      if (!healthy) endAs('differences');
    });
}

async function diagnose(): Promise<readonly Check[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const remedy = 'Correct the settings; .env.example describes each. Nothing else was checked.';
    return [{ name: 'settings', state: 'failed', result: error.message, remedy }];
  }
  return [
    { name: 'settings', state: 'ok', result: 'all settings are valid', remedy: null },
    ...(await examineInstallation(config)),
  ];
}

async function examineInstallation(config: Config): Promise<readonly Check[]> {
  const opened = await openDatabase(config, quiet, printNote).catch(toError);
  const url = opened instanceof Error ? config.databaseUrl : opened.url;
  const db =
    url === undefined
      ? toError(opened)
      : createDatabase({
          connectionString: url,
          log: quiet,
          applicationName: 'tallyhook-doctor',
          maxConnections: 1,
          responseTimeoutMs: 10_000,
          plans: 'any',
        });
  const queues =
    url === undefined ? undefined : openQueues(config, { databaseUrl: url, log: quiet });
  try {
    return await examineWith(config, {
      database: db,
      checkQueue: () => queues?.check() ?? Promise.resolve(NO_DATABASE),
    });
  } finally {
    await queues?.close();
    if (!(db instanceof Error)) await db.close();
    if (!(opened instanceof Error)) await opened.close();
  }
}

const NO_DATABASE = {
  reason: 'there is no database',
  remedy: 'Fix the database check first.',
};

const MARKS = { ok: 'ok  ', warning: 'WARN', failed: 'FAIL', not_checked: '?   ' } as const;

function print(checks: readonly Check[]): void {
  const shown = new Set<string>();
  for (const { name, state, result, remedy } of checks) {
    printText(`${MARKS[state]}  ${name.padEnd(16)} ${indent(result)}`);
    // One cause keeps many checks from running: what to do about it is shown once.
    if (remedy === null || (state === 'not_checked' && shown.has(remedy))) continue;
    shown.add(remedy);
    printLine(`      ${''.padEnd(16)} → ${remedy}`);
  }
  const count = (wanted: Check['state']) => checks.filter(({ state }) => state === wanted).length;
  printLine('');
  printLine(
    `${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${count('failed')} failed, ${count('not_checked')} not checked.`,
  );
}

/** A check may report several problems, each on its own line. */
function indent(text: string): string {
  return text.replaceAll('\n', `\n${''.padEnd(23)}`);
}
