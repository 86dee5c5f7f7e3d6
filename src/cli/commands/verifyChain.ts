/** `tallyhook verify --chain`: verifies the chain of the journal, and a chain head that was published. */
import { InvalidArgumentError, Option } from 'commander';
import { type PublishedHead, parseHead } from '../../ledger/domain/chain.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import type { Checker } from '../../ledger/verify/proveLedger.ts';
import { type ChainReport, verifyChain } from '../../ledger/verify/verifyChain.ts';
import { startStopwatch } from '../../platform/clock.ts';
import { counted } from '../../platform/counted.ts';
import type { Database } from '../../platform/db/database.ts';
import { UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { chainReportJson, findHead, headSentence } from '../../representation/chain.ts';
import { roughly } from '../../representation/roughly.ts';
import { printJson, readInput } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { withProgress } from '../progress.ts';

export function headOption(): Option {
  return new Option(
    '--head <file>',
    'with --chain: compare a chain head that was published: a file, or NUMBER:DIGEST',
  );
}

export function publicKeyOption(): Option {
  return new Option(
    '--public-key <key>',
    'with --chain: the key that must have signed the last block (default: that of CHAIN_KEY)',
  ).argParser((text) => {
    if (!/^[0-9a-f]{64}$/i.test(text)) {
      throw new InvalidArgumentError('Give 64 hexadecimal digits, as a chain head has them.');
    }
    return text.toLowerCase();
  });
}

/** @throws UsageError when the file has no chain head */
export async function readHead(given: string): Promise<PublishedHead> {
  const printed = parseHead(given);
  if (printed) return printed;
  const content = (await readInput(given)).toString('utf8');
  const found = findHead(content);
  if (found) return found;
  throw new UsageError(
    `${printable(given)} has no chain head. Give a file that npx tallyhook chain head wrote, or a text with ` +
      'NUMBER:DIGEST in it.',
  );
}

export interface ChainInput {
  readonly db: Database;
  readonly merchantId: string;
  readonly publicKey: string | undefined;
  readonly head: PublishedHead | undefined;
  readonly json: boolean;
  readonly openCheckers: (ranges: number) => readonly Checker[];
}

export async function verifyChainFor({ json, ...input }: ChainInput): Promise<void> {
  const elapsed = startStopwatch();
  const report = await withProgress((show) =>
    verifyChain(input.db, {
      ...input,
      onProgress: (progress) => show({ phase: 'ranges', ...progress }),
    }),
  );
  if (json) printJson(chainReportJson(report, elapsed()));
  else printReport(report, elapsed());
  if (!report.passed) endAs('differences');
}

function printReport(report: ChainReport, seconds: number): void {
  const { check, last, unchained, starts, head } = report;
  const failed = check.failures > 0;
  printLine(
    `${failed ? 'FAIL' : 'ok  '}  ${counted(check.checked, 'transfer')} in ${counted(last?.number ?? 0, 'block')}, in ${seconds.toFixed(1)} s` +
      (failed ? `: ${check.failures} problems` : ''),
  );
  for (const { subject, problem } of check.offenders) {
    printLine(`      ${subject}: ${problem}`);
  }
  if (check.failures > check.offenders.length) {
    printLine(`      … and ${check.failures - check.offenders.length} more`);
  }
  if (failed) {
    printLine(
      'Next: the first line names where it begins. Keep this output, compare with a backup, and find out who',
    );
    printLine('had access to the database: docs/runbook.md, "The chain does not match".');
  }
  for (const { number, history, chainedMicros } of starts) {
    printLine(
      `Note: block ${number} of ${formatInstant(chainedMicros)} was chained on another server or timeline (${history}): a restore or failover.`,
    );
  }
  printLine(keySentence(report));
  if (unchained.transfers > 0) {
    const age = roughly(unchained.oldestAgeSeconds);
    const least = unchained.isCountComplete ? '' : 'at least ';
    printLine(
      `Not chained yet: ${least}${counted(unchained.transfers, 'transfer')}, the oldest for ${age}.`,
    );
  }
  if (last) {
    printLine(`Head: ${last.number}:${last.digest}`);
    printLine(`      chained at ${formatInstant(last.chainedMicros)}`);
  }
  if (head)
    printLine(`${head.outcome === 'confirmed' ? 'ok  ' : 'FAIL'}  ${headSentence(head, last)}`);
}

function keySentence({ last, publicKey }: ChainReport): string {
  if (last === undefined)
    return 'There is no block yet: the schedule chain appends transfers every minute.';
  if (last.publicKey === null) {
    return 'The last block is not signed: set CHAIN_KEY, or whoever can change the database can make the chain again.';
  }
  if (publicKey === undefined) {
    return `The last block is signed with the key ${last.publicKey}. Compare it with your own record, or give --public-key: the database alone does not prove that it is yours.`;
  }
  return last.publicKey === publicKey
    ? `The last block is signed with the key of this installation, ${publicKey}.`
    : `The last block is not signed with the key of this installation, ${publicKey}.`;
}
