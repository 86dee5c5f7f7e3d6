import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { shellWord } from '../../alerts/domain/shellWord.ts';
import { merchantIdOf, signingKeyOf } from '../../assembly/settings.ts';
import { startThreads, type Threads } from '../../assembly/verifyThreads.ts';
import { formatMoney } from '../../contract/money.ts';
import type { CheckName, CheckResult, Offender } from '../../ledger/domain/checks.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { readInstallation } from '../../ledger/store/installation.ts';
import { checkRange } from '../../ledger/verify/checkRange.ts';
import { type Checker, type ProofReport, proveLedger } from '../../ledger/verify/proveLedger.ts';
import { type VerifyReport, verifyLedger } from '../../ledger/verify/verifyLedger.ts';
import { startStopwatch } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError, UsageError } from '../../platform/errors.ts';
import { formatTime } from '../../representation/time.ts';
import { verificationJson } from '../../representation/verification.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { withProgress } from '../progress.ts';
import { printTable } from '../table.ts';
import { headOption, publicKeyOption, readHead, verifyChainFor } from './verifyChain.ts';

const HELP = `
Without an option, proves what changed since the last run, what failed before, and the next share of the
rest, so that everything is proven every VERIFY_FULL_DAYS days. The first run proves everything. The
scheduler does the same every night. A run that was stopped is continued by the next one.

With --chain, compares every transfer with the chain of the journal, and names the first that was edited,
removed or inserted after it was chained. With --head as well, proves that the chain is the one of which
you have a head: a file of tallyhook chain head, or any text that has NUMBER:DIGEST in it.

Workers can keep running. Exit code: 0 every check passed, 4 another run is under way, 6 a check failed.`;

interface VerifyOptions {
  readonly full: boolean;
  readonly rebuild: boolean;
  readonly chain: boolean;
  readonly head?: string;
  readonly publicKey?: string;
  readonly threads?: number;
  readonly json: boolean;
}

/** More threads than this wait for PostgreSQL. */
const MAX_THREADS = 16;
/** Each takes some 60 MiB of memory, and workers need processors, too. */
const DEFAULT_THREADS = Math.min(4, availableParallelism());

export function verifyCommand(): Command {
  return new Command('verify')
    .option('--full', 'prove everything now', false)
    .option('--rebuild', 'prove everything, rebuild the ledger from the inbox, and compare', false)
    .option('--chain', 'verify the chain of the journal', false)
    .addOption(headOption())
    .addOption(publicKeyOption())
    .addOption(threadsOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action((options: VerifyOptions) => {
      const config = readConfig();
      refuseContradictions(options);
      return withDatabase(
        config,
        async (db, databaseUrl) => {
          const input = {
            db,
            databaseUrl,
            merchantId: (await readInstallation(db)) ?? merchantIdOf(config),
            chainKey: options.publicKey ?? signingKeyOf(config)?.publicKey,
          };
          if (options.chain) await proveChain(options, input);
          else await proveAll(options, { ...input, fullDays: config.verifyFullDays });
        },
        options.rebuild ? 'a rebuild in temporary tables' : undefined,
      );
    });
}

async function proveAll(
  options: VerifyOptions,
  input: ProveInput & { readonly fullDays: number },
): Promise<void> {
  const { db, merchantId, chainKey } = input;
  const elapsed = startStopwatch();
  const report = options.rebuild
    ? await withProgress((onProgress) =>
        verifyLedger(db, { merchantId, chainKey, rebuild: true, onProgress }),
      )
    : await prove(options, input);
  if (options.json) printJson(verificationJson(report, elapsed(), nextStep));
  else printReport(report, elapsed());
  if (!report.passed) endAs('differences');
}

function threadsOption(): Option {
  return new Option(
    '--threads <number>',
    'check this many ranges at once (default: one for each processor, up to 4)',
  ).argParser((text) => {
    const threads = Number(text);
    if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
      throw new InvalidArgumentError(`Give a whole number from 1 to ${MAX_THREADS}.`);
    }
    return threads;
  });
}

/** Only the whole chain is compared with a head. */
function refuseContradictions({ chain, full, rebuild, head, publicKey }: VerifyOptions): void {
  if (chain && (full || rebuild)) {
    throw new UsageError('--chain verifies the chain alone. Leave out --full and --rebuild.');
  }
  if (!chain && (head ?? publicKey) !== undefined) {
    throw new UsageError('--head and --public-key are for the chain. Add --chain.');
  }
}

interface ProveInput {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly merchantId: string;
  readonly chainKey: string | undefined;
}

/** Threads take longer to start than so few ranges take to check. */
const RANGES_FOR_THREADS = 8;

interface Checkers {
  /** @param due how many ranges there are */
  readonly open: (due: number) => readonly Checker[];
}

/** Runs what checks ranges in threads, if there are enough of them. */
async function withCheckers<T>(
  threads: number,
  { db, databaseUrl }: ProveInput,
  work: (checkers: Checkers) => Promise<T>,
): Promise<T> {
  let started: Threads | undefined;
  try {
    return await work({
      open: (due) => {
        if (threads === 1 || due < RANGES_FOR_THREADS) return [(task) => checkRange(db, task)];
        started = startThreads(threads, { connectionString: databaseUrl });
        return started.checkers;
      },
    });
  } finally {
    await started?.close();
  }
}

async function proveChain(
  { head, json, threads = DEFAULT_THREADS }: VerifyOptions,
  input: ProveInput,
): Promise<void> {
  const { db, merchantId, chainKey: publicKey } = input;
  const published = head === undefined ? undefined : await readHead(head);
  await withCheckers(threads, input, ({ open }) =>
    verifyChainFor({ db, merchantId, publicKey, head: published, json, openCheckers: open }),
  );
}

function prove(
  { full, threads = DEFAULT_THREADS }: VerifyOptions,
  input: ProveInput & { readonly fullDays: number },
): Promise<ProofReport> {
  const { db, merchantId, chainKey, fullDays } = input;
  return withCheckers(threads, input, async ({ open }) => {
    const result = await withProgress((show) =>
      proveLedger(db, {
        merchantId,
        chainKey,
        mode: full ? 'full' : 'incremental',
        fullDays,
        openCheckers: open,
        onProgress: (progress) => show({ phase: 'ranges', ...progress }),
      }),
    );
    if (result.outcome === 'proven') return result.report;
    throw new OperatorError(
      'Another run of verify is under way, perhaps that of the scheduler. Try again in some minutes.',
    );
  });
}

function printReport(report: VerifyReport | ProofReport, seconds: number): void {
  const { passed, checks, balances } = report;
  for (const check of checks) printCheck(check);
  if (balances.length > 0) {
    printLine('');
    printTable(
      ['ACCOUNT', 'BALANCE'],
      balances.map(({ account, currency, balanceMinor }) => [
        account,
        formatMoney(BigInt(balanceMinor), currency),
      ]),
    );
  }
  printLine('');
  const failed = checks.filter(({ failures }) => failures > 0).map(({ name }) => name);
  const took = `in ${seconds.toFixed(1)} s`;
  if (passed) printLine(`All ${checks.length} checks passed ${took}.`);
  else
    printLine(`${failed.length} of ${checks.length} checks failed ${took}: ${failed.join(', ')}.`);
  if (report.bodiesFrom) {
    printLine(
      `Bodies exist from ${report.bodiesFrom} on. What was received before was rebuilt from stored snapshots.`,
    );
  }
  if ('mode' in report) printCoverage(report);
}

/** How much of the ledger the run proved, and when everything was proven. */
function printCoverage({ mode, continuedFrom, ranges, proof }: ProofReport): void {
  if (continuedFrom && continuedFrom.checked > 0) {
    printLine(
      `Continued the run of ${timeOf(continuedFrom.startedMs)}, which had checked ${continuedFrom.checked} ranges.`,
    );
  }
  if (proof.fullFromMs === null || proof.fullAtMs === null) {
    printLine(`Checked ${ranges} ranges. Not everything has been proven yet.`);
    return;
  }
  const full = `${timeOf(proof.fullFromMs)} to ${timeOf(proof.fullAtMs)}`;
  const share =
    mode === 'full'
      ? 'everything'
      : `what changed, and ${proof.checked} of ${proof.ranges} ranges of this round`;
  printLine(`Proven: ${share}. Everything was last proven from ${full}.`);
}

function timeOf(ms: number): string {
  return formatTime(new Date(ms));
}

function printCheck(check: CheckResult): void {
  const { name, meaning, checked, failures, offenders } = check;
  const count = failures === 0 ? `${checked}` : `${failures} of ${checked}`;
  printLine(
    `${failures === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(18)} ${count.padStart(10)}  ${meaning}`,
  );
  for (const { subject, problem } of offenders) {
    printLine(`        ${subject}: ${problem}`);
  }
  if (failures > offenders.length) printLine(`        … and ${failures - offenders.length} more`);
  const next = nextStep(check);
  if (next !== undefined) printLine(`      Next: ${next}`);
}

/** The next step for the first offender of each check. */
const NEXT: Readonly<Record<CheckName, (offender: Offender) => string>> = {
  inbox: applyAgain,
  snapshots: () => compareWithInbox,
  resources: applyAgain,
  children: applyAgain,
  findings: applyAgain,
  posted: applyAgain,
  // Tallyhook never rewrites the journal: if it is damaged, only a backup is complete.
  chain: () => compareWithInbox,
  effective: applyAgain,
  authorizations: applyAgain,
  orders: showOrder,
  order_findings: showOrder,
  lines: () => compareWithFile,
  booked: () => compareWithFile,
  sums: () => makeSumsAgain,
  closings: () => compareWithBackup,
  chained: () => verifyWholeChain,
  balance: () => compareWithInbox,
  rebuilt_resources: applyAgain,
  rebuilt_findings: applyAgain,
  rebuilt_balances: applyAgain,
  rebuilt_orders: showOrder,
  rebuilt_order_findings: showOrder,
};

const compareWithInbox =
  'run npx tallyhook verify --rebuild to compare with the inbox, and compare with a backup';

const compareWithBackup =
  'a closing or a transfer of its month was changed in the database: compare both with a backup, and reopen and close the month if the journal is right';

const verifyWholeChain =
  'run npx tallyhook verify --chain to find the first, keep its output, and compare with a backup';

const compareWithFile =
  'compare the line with its file, which npx tallyhook settle list names, and with a backup';

const makeSumsAgain =
  'the schedule transfer_sums makes the sums again, and until then readings add up the journal: run npx tallyhook schedule list to see its last run, and then npx tallyhook verify --full';

function applyAgain({ event }: Offender): string {
  return event === undefined
    ? compareWithInbox
    : `run npx tallyhook events replay ${event} to apply it again with every snapshot of its resource`;
}

function showOrder({ subject }: Offender): string {
  const orderId = orderIdOf(subject.replace(/^order:/, ''));
  const word = shellWord(orderId);
  return `run npx tallyhook orders show ${word} to list its parts, and replay an event of one of them, or run npx tallyhook refresh ${word}`;
}

function nextStep({ name, offenders }: CheckResult): string | undefined {
  const [first] = offenders;
  return first && NEXT[name](first);
}
