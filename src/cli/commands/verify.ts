import { Command } from 'commander';
import { shellWord } from '../../alerts/domain/shellWord.ts';
import { merchantIdOf } from '../../assembly/settings.ts';
import { formatMoney } from '../../contract/money.ts';
import type { CheckName, CheckResult, Offender } from '../../ledger/domain/checks.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import { readInstallation } from '../../ledger/store/installation.ts';
import { type VerifyReport, verifyLedger } from '../../ledger/verify/verifyLedger.ts';
import { systemClock } from '../../platform/clock.ts';
import { verificationJson } from '../../representation/verification.ts';
import { printable, printJson, readConfig, withDatabase } from '../context.ts';
import { jsonOption } from '../options.ts';
import { createProgressLine } from '../progress.ts';
import { printTable } from '../table.ts';

const EXIT_CODES = `
Workers can keep running. Exit code: 0 every check passed, 1 a check failed or could not run.`;

interface VerifyOptions {
  readonly rebuild: boolean;
  readonly json: boolean;
}

export function verifyCommand(): Command {
  return new Command('verify')
    .option('--rebuild', 'also rebuild the ledger from the inbox and compare', false)
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action(({ rebuild, json }: VerifyOptions) =>
      withDatabase(readConfig(), async (db) => {
        const merchantId = (await readInstallation(db)) ?? merchantIdOf(readConfig());
        const startMs = systemClock.nowMs();
        const line = json ? undefined : createProgressLine(process.stderr, systemClock);
        const report = await verifyLedger(db, {
          merchantId,
          rebuild,
          ...(line && { onProgress: line.show }),
        });
        line?.clear();
        const seconds = (systemClock.nowMs() - startMs) / 1000;
        if (json) printJson(verificationJson(report, seconds, nextStep));
        else printReport(report, seconds);
        if (!report.passed) process.exitCode = 1;
      }),
    );
}

function printReport({ passed, checks, balances }: VerifyReport, seconds: number): void {
  for (const check of checks) printCheck(check);
  if (balances.length > 0) {
    console.log('');
    printTable(
      ['ACCOUNT', 'BALANCE'],
      balances.map(({ account, currency, balanceMinor }) => [
        account,
        formatMoney(BigInt(balanceMinor), currency),
      ]),
    );
  }
  console.log('');
  const failed = checks.filter(({ failures }) => failures > 0).map(({ name }) => name);
  const took = `in ${seconds.toFixed(1)} s`;
  if (passed) console.log(`All ${checks.length} checks passed ${took}.`);
  else
    console.log(
      `${failed.length} of ${checks.length} checks failed ${took}: ${failed.join(', ')}.`,
    );
}

function printCheck(check: CheckResult): void {
  const { name, meaning, checked, failures, offenders } = check;
  const count = failures === 0 ? `${checked}` : `${failures} of ${checked}`;
  console.log(
    `${failures === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(18)} ${count.padStart(10)}  ${meaning}`,
  );
  for (const { subject, problem } of offenders) {
    console.log(`        ${printable(subject)}: ${printable(problem)}`);
  }
  if (failures > offenders.length) console.log(`        … and ${failures - offenders.length} more`);
  const next = nextStep(check);
  if (next !== undefined) console.log(`      Next: ${printable(next)}`);
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
  authorizations: applyAgain,
  orders: showOrder,
  order_findings: showOrder,
  balance: () => compareWithInbox,
  rebuilt_resources: applyAgain,
  rebuilt_findings: applyAgain,
  rebuilt_balances: applyAgain,
  rebuilt_orders: showOrder,
  rebuilt_order_findings: showOrder,
};

const compareWithInbox =
  'run npx tallyhook verify --rebuild to compare with the inbox, and compare with a backup';

function applyAgain({ event }: Offender): string {
  return event === undefined
    ? compareWithInbox
    : `run npx tallyhook events replay ${event} to apply it again with every snapshot of its resource`;
}

function showOrder({ subject }: Offender): string {
  const orderId = orderIdOf(subject.replace(/^order:/, ''));
  return `run npx tallyhook orders show ${shellWord(orderId)} to list its parts, and replay an event of one of them`;
}

function nextStep({ name, offenders }: CheckResult): string | undefined {
  const [first] = offenders;
  return first && NEXT[name](first);
}
