/** Reads what the benches write with `--json`. */
import type { Accounts } from '../../bench/bench.ts';
import type { EndToEndReport } from '../../bench/endToEnd.ts';
import { totalBytes } from '../../bench/growth/sizes.ts';
import type { Measured } from '../../bench/growth/summary.ts';
import type { Latency } from '../../bench/loadProtocol.ts';
import type { Report } from '../../bench/report.ts';
import type { SteadyReport } from '../../bench/steady.ts';
import type { FigureRecord, RecordOf } from './records.ts';

export function readSpeed({ intake, e2e, steady }: Report): readonly FigureRecord[] {
  return [
    ...(intake ? [readIntake(intake)] : []),
    ...(e2e ? [readEndToEnd(e2e)] : []),
    ...(steady ?? []).map(readSteady),
  ];
}

function readIntake({ pairs, accounts }: NonNullable<Report['intake']>): RecordOf<'intake'> {
  return {
    kind: 'intake',
    pairs: pairs.map(({ barePerSecond, acceptedPerSecond, replyMicros, cpu, bareCpu }) => ({
      barePerSecond,
      acceptedPerSecond,
      reply: toMillis(replyMicros),
      ...others(cpu.others, bareCpu.others),
    })),
    ...deliveryOf(accounts),
  };
}

function readEndToEnd(report: EndToEndReport): RecordOf<'end_to_end'> {
  return {
    kind: 'end_to_end',
    seconds: report.seconds,
    barePerSecond: (report.bareBeforePerSecond + report.bareAfterPerSecond) / 2,
    acceptedPerSecond: report.acceptedPerSecond,
    appliedPerSecond: report.appliedPerSecond,
    acceptedOfBare: report.acceptedOfBare,
    appliedOfAccepted: report.appliedOfAccepted,
    ...others(report.cpu.others),
    ...deliveryOf(report.accounts),
  };
}

function readSteady(report: SteadyReport): RecordOf<'steady'> {
  const { applied, orderWebhooks } = report;
  return {
    kind: 'steady',
    seconds: report.seconds,
    ratePerSecond: report.goals.ratePerSecond,
    reply: toMillis(report.replyMicros),
    applied: { p50Ms: applied.p50Ms, p99Ms: applied.p99Ms },
    ...(orderWebhooks && {
      orderWebhooks: { p50Ms: orderWebhooks.p50Ms, p99Ms: orderWebhooks.p99Ms },
    }),
    ...others(report.cpu.others),
    ...deliveryOf(report.accounts),
  };
}

function toMillis({ p50, p99 }: Latency): { readonly p50Ms: number; readonly p99Ms: number } {
  return { p50Ms: p50 / 1_000, p99Ms: p99 / 1_000 };
}

function others(...cores: readonly (number | undefined)[]): { readonly otherCores?: number } {
  const known = cores.filter((one) => one !== undefined);
  return known.length === 0 ? {} : { otherCores: Math.max(...known) };
}

/** An account that is not complete lost at least one event, also where its numbers do not show which. */
function deliveryOf({ acknowledged, stored, isComplete, ...left }: Accounts): {
  readonly acknowledged: number;
  readonly lost: number;
} {
  if (isComplete) return { acknowledged, lost: 0 };
  const notApplied = left.pending + left.dead + left.notApplied;
  return { acknowledged, lost: Math.max(1, acknowledged - stored, notApplied) };
}

/** Smaller ones are in the sum only. */
const LARGEST = 6;

export function readGrowth(
  measured: readonly Measured[],
  bodyBytes: number,
): readonly RecordOf<'bytes'>[] {
  return measured.flatMap(({ events, sizes }) =>
    sizes === undefined
      ? []
      : [
          {
            kind: 'bytes' as const,
            events,
            bodyBytes,
            bytesPerEvent: totalBytes(sizes) / events,
            tables: Object.fromEntries(
              sizes.slice(0, LARGEST).map((size) => [size.table, totalBytes([size]) / events]),
            ),
          },
        ],
  );
}
