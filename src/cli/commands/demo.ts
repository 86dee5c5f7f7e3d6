import { Command, InvalidArgumentError } from 'commander';
import { defaultRoles } from '../../assembly/roles.ts';
import { reconcileOf } from '../../assembly/service.ts';
import { usesSandbox } from '../../assembly/settings.ts';
import { type Running, start } from '../../assembly/start.ts';
import { createClient } from '../../client/index.ts';
import type { Config } from '../../config/config.ts';
import type { ComparedOrder } from '../../demo/compare.ts';
import { createSandboxControl } from '../../demo/control.ts';
import { type DemoReport, runDemo } from '../../demo/runDemo.ts';
import { systemClock } from '../../platform/clock.ts';
import { OperatorError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { runUntilSignal } from '../../platform/shutdown.ts';
import { printBanner } from '../banner.ts';
import { printable, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { jsonOption } from '../options.ts';
import { createProgressLine } from '../progress.ts';

interface DemoCommandOptions {
  readonly orders: number;
  readonly seed?: number;
  readonly duplicates: number;
  readonly loss: number;
  readonly once: boolean;
  readonly json: boolean;
}

const MAX_ORDERS = 100_000;
const MAX_SEED = 999_999;

const EXIT_CODES = `
Runs on the embedded database and the sandbox only: no real money, and nothing real is touched.
Exit code with --once: 0 the ledger ended equal to the service, 1 it did not.`;

export function demoCommand(): Command {
  return new Command('demo')
    .option('--orders <count>', 'orders to place', wholeNumber(1, MAX_ORDERS), 100)
    .option(
      '--seed <number>',
      'what happens follows from it (a random one)',
      wholeNumber(0, MAX_SEED),
    )
    .option('--duplicates <share>', 'of webhooks that come twice, 0 to 1', share, 0.2)
    .option('--loss <share>', 'of webhooks that never come, 0 to 1', share, 0.05)
    .option('--once', 'end after the report', false)
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action(async (options: DemoCommandOptions) => {
      const config = readConfig();
      refuseRealService(config);
      // What goes wrong on purpose would fill the log; errors are still told.
      const log = createLog('error');
      await runUntilSignal(async () => {
        const running = await start(config, defaultRoles(config), { machine: systemClock, log });
        if (!options.json) printBanner(config, running);
        const stopping = new AbortController();
        const played = play(config, running, { options, signal: stopping.signal });
        return {
          ended: Promise.race([
            running.ended,
            options.once ? played : played.then(() => new Promise<void>(() => undefined)),
          ]),
          close: async () => {
            stopping.abort();
            await running.close();
          },
        };
      }, log);
    });
}

function refuseRealService(config: Config): void {
  if (usesSandbox(config)) return;
  throw new OperatorError(
    'The demo invents payments, and the settings name a real database or service: DATABASE_URL, ' +
      'PAYMENTS_API_KEY, PAYMENTS_BASE_URL and PAYMENTS_MERCHANT_ID must not be set. Nothing was started.',
  );
}

interface Playing {
  readonly options: DemoCommandOptions;
  readonly signal: AbortSignal;
}

async function play(config: Config, running: Running, { options, signal }: Playing): Promise<void> {
  const { sandbox } = running;
  if (!sandbox) throw new OperatorError('The sandbox was not started, and the demo needs it.');
  const seed = options.seed ?? Math.floor(Math.random() * MAX_SEED);
  const line = options.json ? undefined : createProgressLine(process.stderr, systemClock);
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
  const report = await withDatabase(config, (db) =>
    runDemo(
      {
        shop: {
          client,
          control: createSandboxControl(sandbox.baseUrl),
          profileId: sandbox.profileId,
        },
        db,
        reconcile: reconcileOf(client, {
          db,
          clock: systemClock,
          log: quiet,
          metrics: createMetrics(),
        }).reconcile,
        clock: systemClock,
        onProgress: (progress) => line?.show(progress),
        signal,
      },
      { ...options, seed },
    ),
  );
  line?.clear();
  if (options.json) printJson(demoJson(report));
  else printReport(report, options.once);
  if (!report.passed) process.exitCode = 1;
}

function demoJson(report: DemoReport) {
  const orderJson = ({ orderKey, outcome, differences }: ComparedOrder) => ({
    order_key: orderKey,
    outcome,
    differences: [...differences],
  });
  return {
    seed: report.seed,
    orders: report.orders,
    failures: [...report.failures],
    webhooks: { ...report.webhooks },
    after_webhooks: report.afterWebhooks.map(orderJson),
    reconciliation: { ...report.reconciliation },
    after_reconciliation: report.afterReconciliation.map(orderJson),
    passed: report.passed,
  };
}

const MAX_LINES = 10;

function printReport(report: DemoReport, isOver: boolean): void {
  const { afterReconciliation, afterWebhooks, failures, orders, reconciliation, seed, webhooks } =
    report;
  const rows: readonly (readonly [string, string])[] = [
    ['Orders', `${orders} placed with seed ${seed}, ${failures.length} not to their end`],
    [
      'Webhooks',
      `${webhooks.events} events in ${webhooks.sent} requests: ${webhooks.duplicated} taken again, ` +
        `${webhooks.lost} lost`,
    ],
    ['Ledger', summaryOf(afterWebhooks)],
    [
      'Reconciled',
      `${reconciliation.found} differences found and ${reconciliation.healed} healed by ${reconciliation.requests} requests`,
    ],
    ['Ledger now', summaryOf(afterReconciliation)],
  ];
  console.log('');
  for (const [name, text] of rows) console.log(`  ${name.padEnd(15)} ${text}`);
  printList('Not played to its end', failures);
  printList('Not compared', reconciliation.failures);
  printList('Lost on their way', differencesOf(afterWebhooks, 'lost'));
  printList('Wrong before reconciling', differencesOf(afterWebhooks, 'different'));
  printList('Wrong', differencesOf(afterReconciliation, 'different'));
  console.log(
    report.passed
      ? '\nThe ledger equals the service, to the cent.'
      : '\nThe ledger does not equal the service.',
  );
  if (!isOver) {
    console.log('Look: `npx tallyhook orders list`, `npx tallyhook orders explain ORDER`.');
    console.log('Everything runs on; Ctrl-C ends it.');
  }
}

function summaryOf(compared: DemoReport['afterReconciliation']): string {
  const count = (outcome: string) => compared.filter((order) => order.outcome === outcome).length;
  return (
    `${count('equal')} of ${compared.length} orders and payouts equal the service to the cent, ` +
    `${count('lost')} lack what was lost, ${count('different')} differ otherwise`
  );
}

function differencesOf(
  compared: DemoReport['afterReconciliation'],
  wanted: string,
): readonly string[] {
  return compared
    .filter(({ outcome }) => outcome === wanted)
    .flatMap(({ orderKey, differences }) => differences.map((text) => `${orderKey}: ${text}`));
}

function printList(heading: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  console.log(`\n${heading}:`);
  for (const text of lines.slice(0, MAX_LINES)) console.log(`  ${printable(text)}`);
  if (lines.length > MAX_LINES) console.log(`  and ${lines.length - MAX_LINES} more`);
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max && text.trim() !== '') return value;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  };
}

function share(text: string): number {
  const value = Number(text);
  if (value >= 0 && value <= 1 && text.trim() !== '') return value;
  throw new InvalidArgumentError('Give a share from 0 to 1, such as 0.1 for one in ten.');
}
