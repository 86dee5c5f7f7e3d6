import { Command, InvalidArgumentError } from 'commander';
import { defaultRoles } from '../../assembly/roles.ts';
import { accountOf, reconcileOf } from '../../assembly/service.ts';
import { usesSandbox } from '../../assembly/settings.ts';
import { type Running, start } from '../../assembly/start.ts';
import { createClient } from '../../client/index.ts';
import type { Config } from '../../config/config.ts';
import type { ComparedOrder } from '../../demo/compare.ts';
import { createSandboxControl } from '../../demo/control.ts';
import { exampleOrder } from '../../demo/exampleOrder.ts';
import { type DemoReport, runDemo } from '../../demo/runDemo.ts';
import { systemClock } from '../../platform/clock.ts';
import { OperatorError, UsageError } from '../../platform/errors.ts';
import { createMetrics } from '../../platform/metrics.ts';
import { runUntilSignal } from '../../platform/shutdown.ts';
import { printBanner, signInUrl } from '../banner.ts';
import { printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine, printText } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { withProgress } from '../progress.ts';

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
The demo uses the embedded database and the sandbox only, so no real money moves.
Exit code with --once: 0 the ledger equals the service, 6 it does not.`;

export function demoCommand(): Command {
  return new Command('demo')
    .option('--orders <count>', 'number of orders to place', wholeNumber(1, MAX_ORDERS), 100)
    .option(
      '--seed <number>',
      'seed of the random plan (default: random)',
      wholeNumber(0, MAX_SEED),
    )
    .option('--duplicates <share>', 'share of webhooks to deliver twice, 0 to 1', share, 0.2)
    .option('--loss <share>', 'share of webhooks to drop, 0 to 1', share, 0.05)
    .option('--once', 'exit after the report', false)
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action(async (options: DemoCommandOptions) => {
      const config = readConfig();
      refuseRealService(config);
      await runUntilSignal(async () => {
        // Faults are injected on purpose and would fill the log; errors are still logged.
        const parts = { machine: systemClock, log: quiet };
        const running = await start(config, defaultRoles(config), parts);
        if (!options.json) await printBanner(config, running);
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
      }, quiet);
    });
}

function refuseRealService(config: Config): void {
  if (usesSandbox(config)) return;
  throw new UsageError(
    'The demo creates simulated payments, and the settings name a real database or service. Unset DATABASE_URL, ' +
      'PAYMENTS_API_KEY, PAYMENTS_BASE_URL and PAYMENTS_MERCHANT_ID. Nothing was started.',
  );
}

interface Playing {
  readonly options: DemoCommandOptions;
  readonly signal: AbortSignal;
}

async function play(config: Config, running: Running, { options, signal }: Playing): Promise<void> {
  const { sandbox } = running;
  if (!sandbox) throw new OperatorError('The demo needs the sandbox, and it did not start.');
  const seed = options.seed ?? Math.floor(Math.random() * MAX_SEED);
  const client = createClient({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
  const control = createSandboxControl(sandbox.baseUrl);
  const shop = { client, control, profileId: sandbox.profileId };
  const report = await withProgress((onProgress) =>
    withDatabase(config, (db) => {
      const { reconcile } = reconcileOf(client, {
        db,
        clock: systemClock,
        account: accountOf(config),
        log: quiet,
        metrics: createMetrics(),
      });
      return runDemo(
        { shop, db, reconcile, clock: systemClock, onProgress, signal },
        { ...options, seed },
      );
    }),
  );
  if (options.json) printJson(demoJson(report));
  else {
    printReport(report);
    if (!options.once) printInvitation(report, await signInUrl(config, running, '/sandbox'));
  }
  if (!report.passed) endAs('differences');
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

function printReport(report: DemoReport): void {
  const { afterReconciliation, afterWebhooks, failures, orders, reconciliation, seed, webhooks } =
    report;
  const rows: readonly (readonly [string, string])[] = [
    ['Orders', `${orders} placed with seed ${seed}, ${failures.length} failed`],
    [
      'Webhooks',
      `${webhooks.events} events in ${webhooks.sent} requests: ${webhooks.duplicated} duplicates, ` +
        `${webhooks.lost} lost`,
    ],
    ['By webhooks', summaryOf(afterWebhooks)],
    [
      'Reconciled',
      `${reconciliation.found} differences found, ${reconciliation.repaired} repaired with ${reconciliation.requests} requests`,
    ],
    ['Afterwards', summaryOf(afterReconciliation)],
  ];
  printLine('');
  for (const [name, text] of rows) printLine(`  ${name.padEnd(15)} ${text}`);
  printList('Orders that failed', failures);
  printList('Lists that could not be compared', reconciliation.failures);
  printList('Missing because webhooks were lost', differencesOf(afterWebhooks, 'lost'));
  printList('Different before reconciliation', differencesOf(afterWebhooks, 'different'));
  printList('Different', differencesOf(afterReconciliation, 'different'));
  printText(
    report.passed
      ? '\nThe ledger equals the service, to the cent.'
      : '\nThe ledger does not equal the service.',
  );
}

function printInvitation(report: DemoReport, sandboxUrl: string | undefined): void {
  const { orderId, what } = exampleOrder(report, report.afterWebhooks);
  const next: readonly (readonly [string, string])[] = [
    [`orders show ${orderId}`, what],
    [`orders explain ${orderId}`, 'why it has its state, snapshot by snapshot'],
    ['status', 'whether money is flowing, and whether anything is wrong'],
  ];
  const width = Math.max(...next.map(([command]) => command.length));
  printText('\nEverything keeps running. Press Ctrl-C to stop. Next, in a second terminal:\n');
  for (const [command, shows] of next) {
    printLine(`  npx tallyhook ${command.padEnd(width)}  # ${shows}`);
  }
  if (sandboxUrl === undefined) return;
  printText('\nOr break something yourself (this link signs you in once, within five minutes):\n');
  printLine(`  ${sandboxUrl}`);
}

function summaryOf(compared: DemoReport['afterReconciliation']): string {
  const count = (outcome: string) => compared.filter((order) => order.outcome === outcome).length;
  return (
    `${count('equal')} of ${compared.length} orders and payouts equal the service to the cent, ` +
    `${count('lost')} lack lost webhooks, ${count('different')} differ for another reason`
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
  printText(`\n${heading}:`);
  for (const text of lines.slice(0, MAX_LINES)) printLine(`  ${text}`);
  if (lines.length > MAX_LINES) printLine(`  and ${lines.length - MAX_LINES} more`);
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
