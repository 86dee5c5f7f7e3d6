/** `npm run bench`: measures what the README claims, on this machine. See `--help`. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBadDays } from './badDays.ts';
import type { Accounts, Bench } from './bench.ts';
import { startPostgres, usePostgres } from './database.ts';
import { runDistance } from './distance.ts';
import { runEndToEnd } from './endToEnd.ts';
import { runFirstImport } from './firstImport.ts';
import { runIntake } from './intake.ts';
import { runJournal } from './journal.ts';
import { startLoad } from './loadProcess.ts';
import { describeMachine } from './machine.ts';
import { FLAGS, HELP, type Options, readOptions } from './options.ts';
import { runOverload } from './overload.ts';
import { printPeers } from './peers/printPeers.ts';
import { runPeers } from './peers/runPeers.ts';
import { borrowRedis } from './redis.ts';
import {
  printBadDays,
  printDistance,
  printEndToEnd,
  printFirstImport,
  printIntake,
  printJournal,
  printMachine,
  printOverload,
  printRest,
  printSteady,
  type Report,
} from './report.ts';
import { runRest } from './rest.ts';
import { type BenchParts, runBench } from './runBench.ts';
import { runSteady } from './steady.ts';

/** All parts with as many seconds and pairs as they take, or a backlog of an hour and a million payments. */
const DEADLINE_MS = 4 * 3_600_000;

async function main(options: Options, parts: BenchParts): Promise<boolean> {
  const report = await measure(options, parts);
  if (options.jsonFile !== undefined) {
    writeFileSync(options.jsonFile, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  return isComplete(report);
}

async function measure(options: Options, { folder, cleanup }: BenchParts): Promise<Report> {
  if (options.profileDir !== undefined) mkdirSync(options.profileDir, { recursive: true });
  if (options.redisUrl !== undefined) await borrowRedis(options.redisUrl, cleanup);
  const secret = randomBytes(32).toString('hex');
  const postgres =
    options.postgresUrl === undefined
      ? await startPostgres(join(folder, 'data'), cleanup)
      : await usePostgres(options.postgresUrl, cleanup);
  const load = await startLoad({ secret, cwd: folder, cleanup });
  const machine = describeMachine(postgres, folder);
  printMachine(machine);
  const base = { options, secret, folder, cleanup, postgres, load };
  const queues = options.redisUrl === undefined ? 'PostgreSQL' : 'Redis';
  const shape = options.isSingleProcess ? 'one process' : 'a process for each role';
  console.log(`\nEnd to end and steady: ${shape}, queues in ${queues}.`);

  let report: Report = { machine, shape: `${shape}, queues in ${queues}` };
  for (const part of options.scenarios) {
    report = { ...report, ...(await runPart({ ...base, part })) };
  }
  return report;
}

async function runPart(bench: Bench): Promise<Partial<Report>> {
  switch (bench.part) {
    case 'intake': {
      const intake = await runIntake(bench);
      printIntake(intake);
      return { intake };
    }
    case 'e2e': {
      const e2e = await runEndToEnd(bench);
      printEndToEnd(e2e);
      return { e2e };
    }
    case 'steady': {
      const steady = await runSteady(bench);
      printSteady(steady);
      return { steady };
    }
    case 'distance': {
      const distance = await runDistance(bench);
      printDistance(distance);
      return { distance };
    }
    case 'overload': {
      const overload = await runOverload(bench);
      printOverload(overload);
      return { overload };
    }
    case 'bad-days': {
      const badDays = await runBadDays(bench);
      printBadDays(badDays);
      return { badDays };
    }
    case 'import': {
      const firstImport = await runFirstImport(bench);
      printFirstImport(firstImport);
      return { firstImport };
    }
    case 'rest': {
      const rest = await runRest(bench);
      printRest(rest);
      return { rest };
    }
    case 'journal': {
      const journal = await runJournal(bench);
      printJournal(journal);
      return { journal };
    }
    case 'peers': {
      const peers = await runPeers(bench);
      printPeers(peers);
      return { peers };
    }
  }
}

function isComplete(report: Report): boolean {
  const { intake, e2e, steady, journal, distance, overload, badDays, firstImport, peers } = report;
  const accounts: readonly (Accounts | undefined)[] = [
    intake?.accounts,
    e2e?.accounts,
    overload?.accounts,
    ...(steady ?? []).map(({ accounts: own }) => own),
    ...(badDays?.accounts ?? []),
    ...(journal?.accounts ?? []),
    ...(distance?.rows ?? []).map(({ accounts: own }) => own),
  ];
  const isProved = badDays?.proved !== false;
  const isWhole = peers?.isComplete !== false && (firstImport ?? []).every((one) => one.isComplete);
  return isProved && isWhole && accounts.every((one) => one?.isComplete !== false);
}

await runBench({
  help: HELP,
  flags: FLAGS,
  deadlineMs: DEADLINE_MS,
  run: (given, parts) => main(readOptions(given), parts),
});
