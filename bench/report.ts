/** Prints what was measured, each figure beside its target. */
import type { BadDaysReport, Flood } from './badDays.ts';
import type { Accounts } from './bench.ts';
import { type CpuUse, isDisturbed, limitOf } from './cpu.ts';
import type { DistanceReport } from './distance.ts';
import type { EndToEndReport, RunReport } from './endToEnd.ts';
import type { ImportReport } from './firstImport.ts';
import type { IntakeReport } from './intake.ts';
import type { JournalReport } from './journal.ts';
import type { Latency } from './loadProtocol.ts';
import type { Machine } from './machine.ts';
import type { OverloadReport } from './overload.ts';
import type { PeersReport } from './peers/runPeers.ts';
import type { Quantiles } from './quantiles.ts';
import type { RestReport } from './rest.ts';
import type { SteadyReport } from './steady.ts';

export interface Report {
  readonly machine: Machine;
  readonly shape: string;
  readonly intake?: IntakeReport;
  readonly e2e?: EndToEndReport;
  readonly steady?: readonly SteadyReport[];
  readonly journal?: JournalReport;
  readonly distance?: DistanceReport;
  readonly overload?: OverloadReport;
  readonly badDays?: BadDaysReport;
  readonly firstImport?: readonly ImportReport[];
  readonly rest?: RestReport;
  readonly peers?: PeersReport;
}

const MIN_INTAKE_RATIO = 0.75;
const MIN_ACCEPTED_OF_BARE = 0.7;
const MIN_APPLIED_OF_ACCEPTED = 0.97;
const MIN_ACCEPTED_OF_CAPACITY = 0.9;
/** A third of the time that the service waits for a reply. */
const MAX_OVERLOAD_P99_MICROS = 10_000_000;
/** From the second third to the last; in the first the young generation and the recall fill. */
const MAX_MEMORY_GROWTH = 0.1;
/** From the receipt of an event to that of our order webhook. */
const MAX_ORDER_WEBHOOK_P99_MS = 150;

export function printMachine(machine: Machine): void {
  title('Machine');
  line('cores', `${machine.cores} (${machine.cpu}), ${machine.memoryGib} GiB, ${machine.system}`);
  const { node, postgres, express, bullmq } = machine;
  line('versions', `node ${node}, PostgreSQL ${postgres}, express ${express}, bullmq ${bullmq}`);
  line('durable write', `${machine.syncMicros} µs (8 kB and fdatasync, median)`);
}

export function printIntake({ pairs, medianRatio, accounts, warnings }: IntakeReport): void {
  title('Intake alone: durable acceptance against a bare route that only verifies');
  console.log('  pair     bare/s  accepted/s   ratio   reply p50       p99  others');
  pairs.forEach((pair, n) => {
    const cells = [
      String(n + 1).padStart(4),
      whole(pair.barePerSecond).padStart(10),
      whole(pair.acceptedPerSecond).padStart(11),
      pair.ratio.toFixed(2).padStart(7),
      millis(pair.replyMicros.p50).padStart(11),
      millis(pair.replyMicros.p99).padStart(9),
      Math.max(pair.cpu.others ?? 0, pair.bareCpu.others ?? 0)
        .toFixed(2)
        .padStart(7),
    ];
    console.log(`  ${cells.join(' ')}`);
    printOddities(pair);
  });
  line('median ratio', target(medianRatio, MIN_INTAKE_RATIO));
  const last = pairs.at(-1);
  if (last) {
    line('cores of bare', shares(last.bareCpu));
    printCpu(last.cpu);
  }
  printAccounts(accounts, false);
  printWarnings(warnings);
}

export function printEndToEnd(report: EndToEndReport): void {
  title(`End to end, ${report.seconds.toFixed(0)} s`);
  const { bareBeforePerSecond: before, bareAfterPerSecond: after } = report;
  line('bare route', `${whole(before)}/s before, ${whole(after)}/s after`);
  printRun(report);
  line('accepted / bare', target(report.acceptedOfBare, MIN_ACCEPTED_OF_BARE));
  line('applied / accepted', target(report.appliedOfAccepted, MIN_APPLIED_OF_ACCEPTED));
  line('drained after', `${report.drainSeconds.toFixed(2)} s`);
  const backlog = report.backlog.map(({ pending }) => whole(pending)).join(' ');
  line('pending over time', backlog);
  printCpu(report.cpu);
  printAccounts(report.accounts, true);
  printWarnings(report.warnings);
}

export function printSteady(reports: readonly SteadyReport[]): void {
  for (const report of reports) {
    const { applied, backlogThirds, goals, orderWebhooks } = report;
    title(`Steady load of ${goals.ratePerSecond}/s, ${report.seconds.toFixed(0)} s`);
    printRun(report);
    line(
      'reply to applied',
      `p50 ≤ ${goals.p50Ms} ms: ${verdict(applied.p50Ms <= goals.p50Ms)}, ` +
        `p99 ≤ ${goals.p99Ms} ms: ${verdict(applied.p99Ms <= goals.p99Ms && applied.open === 0)}`,
    );
    if (orderWebhooks) {
      line('to the shop', `${times(orderWebhooks)} (${orderWebhooks.samples} order webhooks)`);
      const isQuick = orderWebhooks.p99Ms <= MAX_ORDER_WEBHOOK_P99_MS;
      line('to the shop', `p99 ≤ ${MAX_ORDER_WEBHOOK_P99_MS} ms: ${verdict(isQuick)}`);
    }
    const { start, middle, end } = backlogThirds;
    const thirds = `${whole(start)} at the start, ${whole(middle)} in the middle, ${whole(end)} at the end`;
    line('pending', `${thirds}; no growth: ${verdict(report.isBacklogSteady)}`);
    printCpu(report.cpu);
    printAccounts(report.accounts, true);
    printWarnings(report.warnings);
  }
}

export function printJournal({ pairs, medianRatio, accounts }: JournalReport): void {
  title('What the journal costs: a backlog applied with it and without it');
  console.log('  pair      with it/s   without it/s   ratio   transfers an event');
  pairs.forEach((pair, n) => {
    const cells = [
      String(n + 1).padStart(4),
      whole(pair.withPerSecond).padStart(14),
      whole(pair.withoutPerSecond).padStart(14),
      (pair.withPerSecond / pair.withoutPerSecond).toFixed(2).padStart(7),
      pair.transfersPerEvent.toFixed(2).padStart(20),
    ];
    console.log(`  ${cells.join(' ')}`);
  });
  const cost = `${((1 - medianRatio) * 100).toFixed(0)} % of the applied rate`;
  line('the journal costs', `${cost} (median ratio ${medianRatio.toFixed(2)})`);
  for (const one of accounts) printAccounts(one, true);
}

export function printDistance({ barePerSecond, rows }: DistanceReport): void {
  title(
    'Distance: events applied per second from a backlog, by workers and milliseconds to the database',
  );
  line('bare route', `${whole(barePerSecond)}/s`);
  const workers = [...new Set(rows.map((row) => row.workers))];
  console.log(
    `  ${['ms'.padStart(5), ...workers.map((n) => `${n} workers`.padStart(12))].join('')}`,
  );
  for (const roundTripMs of new Set(rows.map((row) => row.roundTripMs))) {
    const rates = rows
      .filter((row) => row.roundTripMs === roundTripMs)
      .map(({ appliedPerSecond }) => whole(appliedPerSecond).padStart(12));
    console.log(`  ${[String(roundTripMs).padStart(5), ...rates].join('')}`);
  }
  const lost = rows.filter(({ accounts }) => !accounts.isComplete);
  line('nothing lost', lost.length === 0 ? 'yes' : `NO, in ${lost.length} runs`);
}

export function printOverload(report: OverloadReport): void {
  const { recovery, memoryMib } = report;
  const offered = `${whole(report.offeredPerSecond)}/s offered`;
  title(`Overload: three times what the database takes, ${report.seconds.toFixed(0)} s`);
  line('bare route', `${whole(report.barePerSecond)}/s`);
  line('capacity', `${whole(report.capacityPerSecond)}/s, of a database that is slowed down`);
  line('accepted', `${whole(report.acceptedPerSecond)}/s of ${offered}`);
  line('accepted / capacity', target(report.acceptedOfCapacity, MIN_ACCEPTED_OF_CAPACITY));
  const isPrompt = report.replyMicros.p99 <= MAX_OVERLOAD_P99_MICROS;
  line('reply if accepted', `${latency(report.replyMicros)}; p99 ≤ 10 s: ${verdict(isPrompt)}`);
  line('reply if refused', latency(report.refusalMicros));
  printOddities(report);
  line('connections broken', whole(report.broken));
  const { start, middle, end } = memoryMib;
  const isFlat = end <= middle * (1 + MAX_MEMORY_GROWTH);
  const thirds = `${whole(start)}, ${whole(middle)} and ${whole(end)} MiB in the thirds of the run`;
  line('memory', `${thirds}; flat: ${verdict(isFlat)}`);
  const kept = `${whole(recovery.acceptedPerSecond)}/s of ${whole(recovery.offeredPerSecond)}/s`;
  line(
    'at once afterwards',
    `${kept}, refused ${recovery.refused}, ${latency(recovery.replyMicros)}`,
  );
  printCpu(report.cpu);
  printAccounts(report.accounts, false);
  printWarnings(report.warnings);
}

export function printBadDays({
  barePerSecond,
  floods,
  bursts,
  rest,
  accounts,
  proved,
}: BadDaysReport): void {
  title('Bad days');
  line('bare route', `${whole(barePerSecond)}/s`);
  printFloods(floods);
  printFloods(bursts);
  for (const { name, events, seconds, cpu } of rest) {
    const rate = `${whole(events / seconds)}/s`;
    line(name, `${whole(events)} in ${seconds.toFixed(1)} s: ${rate}; ${limitOf(cpu)}`);
  }
  line('verify --full', proved ? 'no failures' : 'FAILED');
  for (const one of accounts) printAccounts(one, true);
}

/** Each beside the first. */
function printFloods(floods: readonly Flood[]): void {
  const heads = ['accepted/s', 'ratio', 'finished/s', 'ratio', 'reply p50', 'p99'];
  console.log(`  ${' '.repeat(34)}${heads.map((head) => head.padStart(11)).join('')}`);
  const [normal] = floods;
  for (const { name, acceptedPerSecond, finishedPerSecond, replyMicros, cpu } of floods) {
    const cells = [
      whole(acceptedPerSecond),
      (acceptedPerSecond / (normal?.acceptedPerSecond ?? 1)).toFixed(2),
      whole(finishedPerSecond),
      (finishedPerSecond / (normal?.finishedPerSecond ?? 1)).toFixed(2),
      millis(replyMicros.p50),
      millis(replyMicros.p99),
    ];
    console.log(`  ${name.padEnd(34)}${cells.map((cell) => cell.padStart(11)).join('')}`);
    printCpu(cpu);
  }
}

export function printFirstImport(reports: readonly ImportReport[]): void {
  for (const report of reports) printOneImport(report);
}

function printOneImport(report: ImportReport): void {
  const { payments, roundTripMs, seconds, requests, peakMib, cpu, isComplete } = report;
  title(`First import, ${roundTripMs} ms from the service`);
  line('payments', `${whole(payments)} in ${seconds.toFixed(1)} s: ${whole(payments / seconds)}/s`);
  line(
    'requests',
    `${whole(requests)}, ${(requests / (payments / 1_000)).toFixed(1)} per 1,000 payments`,
  );
  line('memory', `${whole(peakMib)} MiB at most`);
  printCpu(cpu);
  line('equal to the service', isComplete ? 'yes' : 'NO');
}

export function printRest({ starts, rows }: RestReport): void {
  title(`Start and rest, medians of ${starts} starts`);
  for (const { name, readySeconds, memoryMb, goalSeconds, goalMb } of rows) {
    const ready = `ready in ${readySeconds.toFixed(2)} s${most(readySeconds, goalSeconds)}`;
    line(name, `${ready}, ${whole(memoryMb)} MB at rest${most(memoryMb, goalMb)}`);
  }
}

function most(value: number, goal: number | undefined): string {
  return goal === undefined ? '' : ` (≤ ${goal}: ${verdict(value <= goal)})`;
}

function printRun(report: RunReport): void {
  line('accepted', `${whole(report.acceptedPerSecond)}/s`);
  line('applied', `${whole(report.appliedPerSecond)}/s`);
  line('reply', latency(report.replyMicros));
  const { applied } = report;
  line(
    'reply to applied',
    `${times(applied)} (${applied.samples} samples, ${applied.skipped} skipped)`,
  );
  printOddities(report);
}

function times({ p50Ms, p99Ms, maxMs }: Quantiles): string {
  return `p50 ${whole(p50Ms)} ms, p99 ${whole(p99Ms)} ms, max ${whole(maxMs)} ms`;
}

export function printOddities(run: {
  readonly refused: Readonly<Record<string, number>>;
  readonly ranOut: boolean;
}): void {
  for (const [status, count] of Object.entries(run.refused))
    line('REFUSED', `${count} × ${status}`);
  if (run.ranOut) line('NOTE', 'ran out of prepared events before the time was over');
}

export function printCpu(cpu: CpuUse): void {
  line('cores used', shares(cpu));
  line('limit', limitOf(cpu));
  if (isDisturbed(cpu)) line('NOTE', 'other programs used the machine; run it again without them');
}

function shares(cpu: CpuUse): string {
  const texts = Object.entries(cpu.processes).map(([name, share]) => `${name} ${share.toFixed(2)}`);
  if (cpu.others !== undefined) texts.push(`others ${cpu.others.toFixed(2)}`);
  return [...texts, `busy ${cpu.busy.toFixed(2)} of ${cpu.cores}`].join(', ');
}

function printAccounts(accounts: Accounts, mustBeApplied: boolean): void {
  const { acknowledged, stored, pending, dead, notApplied, payments, findings } = accounts;
  const applied = `, not applied ${pending + dead + notApplied}, payments ${payments}, findings ${findings}`;
  const counts = `acknowledged ${acknowledged}, stored ${stored}${mustBeApplied ? applied : ''}`;
  line('nothing lost', `${counts}: ${accounts.isComplete ? 'yes' : 'NO'}`);
}

export function printWarnings(warnings: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, lines] of Object.entries(warnings)) {
    line(`${name} logged`, `${lines.length} warnings or more; the first: ${lines[0]}`);
  }
}

export function title(text: string): void {
  console.log(`\n${text}`);
}

export function line(name: string, text: string): void {
  console.log(`  ${name.padEnd(19)} ${text}`);
}

function target(ratio: number, least: number): string {
  return `${ratio.toFixed(2)} (target ≥ ${least.toFixed(2)}: ${verdict(ratio >= least)})`;
}

function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}

function latency({ p50, p99, max }: Latency): string {
  return `p50 ${millis(p50)}, p99 ${millis(p99)}, max ${millis(max)}`;
}

function millis(micros: number): string {
  return `${(micros / 1_000).toFixed(1)} ms`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
