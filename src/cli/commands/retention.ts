import { Command, Option } from 'commander';
import { runRetentionAs } from '../../actions/runRetention.ts';
import { withRemovalArchive } from '../../assembly/archive.ts';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { sleep } from '../../platform/sleep.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { formatTime } from '../../representation/time.ts';
import type { ClassName } from '../../retention/classes.ts';
import { type ClassPlan, planRetention } from '../../retention/plan.ts';
import type { RemovedRows } from '../../retention/removeOld.ts';
import { nextRetentionAt } from '../../scheduler/schedules.ts';
import { clockOf, printJson, readConfig, withDatabase } from '../context.ts';
import { printText } from '../invocation.ts';
import { jsonOption, parseMinutes } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { showsProgress, withProgress } from '../progress.ts';
import { printTable } from '../table.ts';

export function retentionCommand(): Command {
  return new Command('retention').addCommand(showCommand()).addCommand(runCommand());
}

function showCommand(): Command {
  return new Command('show')
    .description('show what each table holds, and what the next run removes')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Counts up to 10,000 are exact. Larger numbers of rows are estimates of PostgreSQL, and "more than 10000"
rows are removable where counting stopped. Bytes include indexes.

Exit code: 0.`,
    )
    .action(({ json }: { readonly json: boolean }) => show(json));
}

interface RunOptions {
  readonly dryRun: boolean;
  readonly minutes: number;
  readonly by?: string;
  readonly json: boolean;
}

function runCommand(): Command {
  return new Command('run')
    .description('remove old data now, as the scheduler does every hour')
    .option('--dry-run', 'show what would be removed, and remove nothing', false)
    .addOption(
      new Option('--minutes <minutes>', 'stop after this time; the next run continues')
        .default(60)
        .argParser(parseMinutes),
    )
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Removes rows in steps of a fraction of a second, and waits while events wait to be applied. You can stop it
at any moment.

Exit code: 0.`,
    )
    .action(async ({ dryRun, minutes, by, json }: RunOptions) => {
      if (dryRun) return show(json);
      const config = readConfig();
      await withDatabase(config, async (db) => {
        const limits = {
          longestMs: minutes * MINUTE_MS,
          signal: new AbortController().signal,
        };
        const clock = await clockOf(db);
        const totals = showsProgress() ? await totalsOf(db, config) : undefined;
        const removed = await withProgress((show) => {
          const onProgress = (name: ClassName, done: number) =>
            show({ phase: name, done, total: totals?.get(name) ?? 0 });
          return withRemovalArchive(config.archive, { db, clock }, (archive) =>
            runRetentionAs(
              { db, sleep, days: config.retention, machine: systemClock, onProgress, ...archive },
              actorOf(by),
              limits,
            ),
          );
        });
        if (json) printJson({ classes: removed.map(removedJson) });
        else printRemoved(removed);
      });
    });
}

/** The removable rows of each class, as they are before a run. */
async function totalsOf(
  db: Database,
  { retention }: Config,
): Promise<ReadonlyMap<ClassName, number>> {
  const plans = await planRetention(db, retention);
  // Counting stops at a number of rows; then there is no total.
  return new Map(plans.map((plan) => [plan.name, plan.isMoreRemovable ? 0 : plan.removable]));
}

async function show(isJson: boolean): Promise<void> {
  const config = readConfig();
  await withDatabase(config, async (db) => {
    const plans = await planRetention(db, config.retention);
    const nextRun = nextRetentionAt((await clockOf(db)).nowMs());
    if (isJson) printJson({ next_run_at: nextRun.toISOString(), classes: plans.map(planJson) });
    else printPlans(plans, nextRun);
  });
}

function printPlans(plans: readonly ClassPlan[], nextRun: Date): void {
  printTable(
    ['CLASS', 'TABLE', 'DAYS', 'ROWS', 'MIB', 'OLDEST', 'NEXT RUN REMOVES', 'REMOVED SO FAR'],
    plans.map((plan) => [
      plan.name,
      plan.table,
      plan.days === undefined ? 'never' : String(plan.days),
      plan.areRowsEstimated ? `about ${plan.rows}` : String(plan.rows),
      (plan.bytes / 1024 / 1024).toFixed(1),
      formatTime(plan.oldest),
      removableText(plan),
      plan.unit === undefined ? String(plan.removedRows) : `${plan.removedRows} ${plan.unit}`,
    ]),
  );
  printText(
    `\nThe next run is at ${formatTime(nextRun)}, if a process with the role scheduler runs.` +
      ' The journal, snapshots and the audit log are never removed.',
  );
}

function removableText({ days, removable, isMoreRemovable, waitingDays }: ClassPlan): string {
  if (days === undefined) return '-';
  const rows = isMoreRemovable ? `more than ${removable}` : String(removable);
  if (waitingDays === 0) return rows;
  return `${rows}; ${waitingDays} ${waitingDays === 1 ? 'day waits' : 'days wait'} to be packed`;
}

function printRemoved(removed: readonly RemovedRows[]): void {
  printTable(
    ['CLASS', 'REMOVED', 'LEFT'],
    removed.map(({ name, rows, unit, isDone }) => [
      name,
      unit === undefined ? String(rows) : `${rows} ${unit}`,
      isDone ? 'nothing' : 'the next run continues',
    ]),
  );
}

function planJson(plan: ClassPlan) {
  return {
    class: plan.name,
    table: plan.table,
    days: plan.days ?? null,
    rows: plan.rows,
    rows_are_estimated: plan.areRowsEstimated,
    bytes: plan.bytes,
    oldest_at: plan.oldest?.toISOString() ?? null,
    removable: plan.removable,
    more_removable: plan.isMoreRemovable,
    waiting_days: plan.waitingDays,
    removed_rows: plan.removedRows,
    unit: plan.unit ?? 'rows',
    caught_up_seconds_ago: plan.behindMs === undefined ? null : Math.round(plan.behindMs / 1000),
  };
}

function removedJson({ name, rows, unit, isDone }: RemovedRows) {
  return { class: name, removed_rows: rows, unit: unit ?? 'rows', done: isDone };
}
