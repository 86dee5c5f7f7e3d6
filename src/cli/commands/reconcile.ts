import { Command, Option } from 'commander';
import { startReconciliationAs } from '../../actions/startReconciliation.ts';
import { accountOf, clientOf, reconcileOf } from '../../assembly/service.ts';
import { rateSettingsOf } from '../../assembly/settings.ts';
import type { Attempted } from '../../audit/recordAudit.ts';
import type { PaymentServiceClient } from '../../client/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { counted } from '../../platform/counted.ts';
import type { Database } from '../../platform/db/database.ts';
import { type OperatorError, UnavailableError } from '../../platform/errors.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { MINUTE_MS } from '../../platform/time.ts';
import { discoveryPerMinute } from '../../reconcile/domain/backgroundRate.ts';
import { type Verdict, verdictOf } from '../../reconcile/domain/verdict.ts';
import { estimateImport } from '../../reconcile/estimate.ts';
import { RunInterrupted } from '../../reconcile/interruptions.ts';
import { FIRST_SPAN_MS } from '../../reconcile/openRun.ts';
import type { Reconcile, RunReport } from '../../reconcile/run.ts';
import type { RunProgress } from '../../reconcile/runContext.ts';
import { countAwaited } from '../../reconcile/store/awaited.ts';
import { readBudget } from '../../reconcile/store/budget.ts';
import { MODES, type Mode, type SumsOutcome } from '../../reconcile/store/runs.ts';
import { readStream } from '../../reconcile/store/streams.ts';
import { STREAMS, type Stream } from '../../reconcile/streams.ts';
import { reconciliationJson } from '../../representation/reconciliation.ts';
import { formatTime } from '../../representation/time.ts';
import { clockOf, noApiKey, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import type { Ending } from '../exitCodes.ts';
import { endAs, printLine, printNote } from '../invocation.ts';
import { jsonOption, momentOption } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { type ProgressState, showsProgress, withElapsed, withProgress } from '../progress.ts';

interface Options {
  readonly stream: Stream | 'all';
  /** Microseconds since 1970. */
  readonly from?: number;
  readonly to?: number;
  readonly mode: Mode;
  readonly dryRun: boolean;
  readonly by?: string;
  readonly json: boolean;
}

interface Tools {
  readonly db: Database;
  readonly clock: Clock;
  readonly client: PaymentServiceClient;
  readonly reconcile: Reconcile;
  readonly options: Options;
}

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .addOption(
      new Option('--stream <stream>', 'list to compare')
        .choices([...STREAMS, 'all'])
        .default('all'),
    )
    .addOption(momentOption('--from', 'only resources created at or after this time'))
    .addOption(momentOption('--to', 'only resources created at or before this time'))
    .addOption(
      new Option('--mode <mode>', 'full: list every row; totals: list only where counts differ')
        .choices(MODES)
        .default('full'),
    )
    .option('--dry-run', 'report differences without changing anything', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Without --from, a run starts half an hour before the end of the last one; the first time, 120 days ago.
A run over a shorter span does not replace the first import: the schedule still reads the 120 days.
An interrupted run continues from its checkpoint when you repeat its command. If one list cannot be read,
the others are compared.

Exit code: 0 every list is equal or empty, 6 differences remain, 3 nothing was compared, because
every list is empty, 5 a list could not be compared, a person stopped its run, or another process
continues it (the output names it; the others may be equal).`,
    )
    .action((options: Options) => withDatabase(readConfig(), (db) => runAll(db, options)));
}

async function runAll(db: Database, options: Options): Promise<void> {
  const clock = await clockOf(db);
  const config = readConfig();
  const client = clientOf(config, { db, clock });
  if (!client) {
    throw noApiKey();
  }
  const { reconcile } = reconcileOf(client, {
    db,
    clock,
    account: accountOf(config),
    log: quiet,
    metrics: createMetrics(),
  });
  const tools = { db, clock, client, reconcile, options };
  const { stream: chosen, from, to, mode, dryRun: isDryRun, by } = options;
  const request = {
    streams: chosen === 'all' ? STREAMS : [chosen],
    mode,
    fromMs: from === undefined ? undefined : from / 1000,
    toMs: to === undefined ? undefined : to / 1000,
    isDryRun,
  };
  const { reports, refused } = await startReconciliationAs(
    { db, start: ({ streams }) => compare(tools, streams) },
    actorOf(by),
    request,
  );
  const [first] = refused;
  if (first && reports.length === 0) throw nothingCompared(first);
  if (options.json) printJson({ reconciliations: reports.map(reconciliationJson), refused });
  else for (const { stream, reason } of refused) printNotCompared(stream, reason);
  endAs(endingOf(reports, refused));
}

interface Compared {
  readonly reports: readonly RunReport[];
  readonly refused: readonly Refused[];
}

/** Compares each list, prints its report, and returns what the audit log records. */
async function compare(tools: Tools, streams: readonly Stream[]): Promise<Attempted<Compared>> {
  const { db, options } = tools;
  const reports: RunReport[] = [];
  const refused: Refused[] = [];
  for (const stream of streams) {
    const rows = options.json ? undefined : await showEstimate(tools, stream);
    const result = await runOne(tools, stream, rows);
    if ('reason' in result) {
      refused.push(result);
      continue;
    }
    reports.push(result);
    if (options.json) continue;
    printReport(result);
    await printAwaited(db, stream);
  }
  return {
    value: { reports, refused },
    result: endingOf(reports, refused) === 'unavailable' ? 'failed' : 'done',
    detail: {
      reconciliations: reports.map((report) => ({
        number: report.id,
        stream: report.stream,
        verdict: verdictOf(report),
      })),
      not_compared: refused,
    },
  };
}

/** A list with a run that could not start. */
interface Refused {
  readonly stream: Stream;
  readonly reason: string;
}

const INCOMPLETE: readonly Verdict[] = ['failed', 'stopped', 'unfinished'];

function endingOf(reports: readonly RunReport[], refused: readonly Refused[]): Ending {
  const verdicts = reports.map(verdictOf);
  const isIncomplete = verdicts.some((verdict) => INCOMPLETE.includes(verdict));
  if (refused.length > 0 || isIncomplete) return 'unavailable';
  if (verdicts.includes('different')) return 'differences';
  return verdicts.includes('equal') ? 'success' : 'not_found';
}

const WAITING = 'waiting: the rate limit of the service is used up';

/**
 * Estimates what may take long: reading a list for the first time.
 * @returns how many rows the service has, if they were requested and it sends totals
 */
async function showEstimate(
  { db, clock, client, options }: Tools,
  stream: Stream,
): Promise<number | undefined> {
  const { watermarkAt } = await readStream(db, stream);
  if (options.mode === 'totals' || (watermarkAt !== null && options.from === undefined)) {
    return undefined;
  }
  const nowMs = clock.nowMs();
  const span = {
    fromMs: options.from === undefined ? nowMs - FIRST_SPAN_MS : options.from / 1000,
    toMs: options.to === undefined ? nowMs : options.to / 1000,
  };
  const { limit, remaining } = await readBudget(db);
  const requestsPerMinute = discoveryPerMinute(rateSettingsOf(readConfig()), limit);
  const facts = { options: { lane: 'operator' as const }, requestsPerMinute };
  // If the service fails here, the run reports it.
  const estimate = await withElapsed(
    remaining === 0 ? `${stream}: ${WAITING}` : `${stream}, requesting the number of rows`,
    () => estimateImport(client, stream, span, facts).catch(() => undefined),
  );
  if (estimate === undefined) return undefined;
  const { rows, requests, minutes } = estimate;
  const time = !minutes ? '' : `, at least ${minutes} min at the allowed rate`;
  printNote(`${stream}: about ${counted(rows, 'row')}, ${counted(requests, 'request')}${time}`);
  return rows;
}

function runOne(
  { db, reconcile, options }: Tools,
  stream: Stream,
  rows: number | undefined,
): Promise<RunReport | Refused> {
  const { from, to, mode, dryRun } = options;
  const work = {
    stream,
    mode,
    fromMs: from === undefined ? undefined : from / 1000,
    toMs: to === undefined ? undefined : to / 1000,
    cause: 'operator' as const,
    isDryRun: dryRun,
    // A first import may take hours, and must not use the rate that the shop needs.
    lane: 'discovery' as const,
  };
  let rateLeft: number | null = null;
  return withProgress(async (show) => {
    let reached: Pick<ProgressState, 'phase' | 'done' | 'total'> = {
      phase: `${stream}, rows`,
      done: 0,
      total: rows ?? 0,
    };
    const onProgress = (progress: RunProgress): void => {
      void readBudget(db).then(
        ({ remaining }) => {
          rateLeft = remaining;
        },
        () => undefined,
      );
      reached = howFar(stream, progress, rows);
      show({ ...reached, note: progressNote(progress, rateLeft) });
    };
    const onRateLimited = (): void => show({ ...reached, note: WAITING });
    // The client waits for as long as a call may take before the run does.
    if ((await readBudget(db)).remaining === 0) onRateLimited();
    return await reconcile(work, {
      signal: new AbortController().signal,
      ...(showsProgress() && { onProgress, onRateLimited }),
    });
  }).catch((error: unknown): Refused => {
    if (!(error instanceof RunInterrupted)) throw error;
    return { stream, reason: error.message };
  });
}

function nothingCompared({ reason }: Refused): OperatorError {
  return new UnavailableError(
    `The payment service cannot be reached or refused the request: ${reason}. Nothing was compared or ` +
      'changed. Run `npx tallyhook doctor` to find the cause.',
  );
}

/** Sales are uneven, so the rows show the time left better than the span that was read. */
function howFar(stream: Stream, progress: RunProgress, rows: number | undefined) {
  const { span, checkpointMs, rowsCompared, rowsCounted } = progress;
  if (rows !== undefined) {
    return { phase: `${stream}, rows`, done: rowsCompared + rowsCounted, total: rows };
  }
  return {
    phase: `${stream}, minutes read`,
    done: Math.round((checkpointMs - span.fromMs) / MINUTE_MS),
    total: Math.round((span.toMs - span.fromMs) / MINUTE_MS),
  };
}

function progressNote(
  { windows, requests, found, repaired }: RunProgress,
  rateLeft: number | null,
): string {
  const rate = rateLeft === null ? '' : `, ${rateLeft} left this minute`;
  return `${counted(windows, 'window')}, ${counted(requests, 'request')}${rate}, ${found} found, ${repaired} repaired`;
}

function printNotCompared(stream: Stream, reason: string): void {
  printLine(`${stream}: not compared: ${reason}`);
  printLine(
    '  Run `npx tallyhook doctor` to find the cause. The next run continues from the checkpoint.',
  );
}

function printReport(report: RunReport): void {
  const {
    stream,
    failure,
    remaining,
    found,
    repaired,
    missed,
    requests,
    rowsCompared,
    rowsCounted,
  } = report;
  const span = `${formatTime(report.fromAt)} to ${formatTime(report.toAt)}`;
  if (report.state === 'failed') {
    printNotCompared(stream, failure ?? '');
    return;
  }
  if (report.state === 'stopped') {
    printLine(
      `${stream}: stopped by ${report.stoppedBy ?? ''} after ${counted(requests, 'request')}`,
    );
    return;
  }
  if (report.state === 'running') {
    printLine(`${stream}: another process continues run ${report.id}`);
    printLine('  `npx tallyhook reconciliations list` shows how far it is.');
    return;
  }
  const verdict = remaining === 0 ? VERDICT_TEXT[verdictOf(report)] : remainText(remaining);
  const listed = rowsCounted === 0 ? '' : ` and ${rowsCounted} counted`;
  printLine(`${stream}: ${verdict} (${span})`);
  printLine(
    `  ${counted(rowsCompared, 'row')} compared${listed} by ${counted(requests, 'request')}: ${found} found, ${repaired} repaired, ${counted(missed, 'missed webhook')}`,
  );
  if (report.sums !== null) printLine(`  analytics: ${SUMS[report.sums]}`);
  for (const { class: name, subject, outcome } of report.differences) {
    if (outcome !== 'repaired') printLine(`  ${OUTCOMES[outcome]}: ${name} ${subject}`);
  }
}

function remainText(count: number): string {
  return count === 1 ? '1 difference remains' : `${count} differences remain`;
}

const VERDICT_TEXT = {
  equal: 'equal',
  different: 'different',
  empty: 'nothing to compare, neither side has a row',
  failed: 'not compared',
  stopped: 'stopped',
  unfinished: 'not finished',
} as const satisfies Record<Verdict, string>;

/** A change may be listed before its webhook arrives; the schedules count the webhooks that never do. */
async function printAwaited(db: Database, stream: Stream): Promise<void> {
  const awaited = await countAwaited(db, [stream]);
  if (awaited === 0) return;
  printLine(
    `  the webhooks of ${counted(awaited, 'change')} may still arrive; the next scheduled run counts those that were lost`,
  );
}

const SUMS = {
  agreed: 'its sums agree',
  differed: 'its sums differed; the days in which they do were listed',
  disproved: 'its sums were wrong over a day that is equal, and are no longer used',
  not_calibrated: 'its sums are not used until they have agreed over a day that is equal',
  unavailable: 'sums are unavailable',
} as const satisfies Record<SumsOutcome, string>;

const OUTCOMES = {
  remaining: 'remaining',
  accepted: 'accepted',
  would_repair: 'would be repaired',
} as const;
