/** The calendar of reconciliation: what was compared in each of the last days; the rules are those of domain/coverage.ts. */
import { readDaysCreated, readLocalByIds } from '../ledger/read/store/comparison.ts';
import type { Queryable } from '../platform/db/database.ts';
import {
  coverageOfDay,
  type DayCoverage,
  dayOf,
  lastDays,
  type Stretch,
} from './domain/coverage.ts';
import { readDifferences, readStretches, type StretchRow } from './store/runs.ts';
import { KIND_OF, type Stream } from './streams.ts';

export interface CalendarDay {
  readonly dayMs: number;
  readonly streams: Readonly<Record<Stream, DayCoverage>>;
}

/** More than the runs of all schedules in a month: four lists, every five minutes. */
const MAX_RUNS = 50_000;

/** Reads the last days, today first. */
export async function readCalendar(
  db: Queryable,
  { nowMs, days }: { readonly nowMs: number; readonly days: number },
): Promise<readonly CalendarDay[]> {
  const starts = lastDays(nowMs, days);
  const since = new Date(starts.at(-1) ?? nowMs);
  const rows = await readStretches(db, { since, limit: MAX_RUNS });
  const ofStream = async (stream: Stream) => {
    const own = rows.filter((row) => row.stream === stream);
    const created = await readDaysCreated(
      db,
      KIND_OF[stream],
      starts.map((ms) => new Date(ms)),
    );
    return {
      stretches: await stretchesOf(db, stream, own),
      withResources: new Set(created.map((day) => day.getTime())),
    };
  };
  const [payments, refunds, disputes, payouts] = [
    await ofStream('payments'),
    await ofStream('refunds'),
    await ofStream('disputes'),
    await ofStream('payouts'),
  ];
  const lists = { payments, refunds, disputes, payouts };
  const coverage = (stream: Stream, dayMs: number) => {
    const { stretches, withResources } = lists[stream];
    return coverageOfDay(stretches, { dayMs, isEmpty: !withResources.has(dayMs) });
  };
  return starts.map((dayMs) => ({
    dayMs,
    streams: {
      payments: coverage('payments', dayMs),
      refunds: coverage('refunds', dayMs),
      disputes: coverage('disputes', dayMs),
      payouts: coverage('payouts', dayMs),
    },
  }));
}

async function stretchesOf(
  db: Queryable,
  stream: Stream,
  rows: readonly StretchRow[],
): Promise<readonly Stretch[]> {
  const daysOfRun = await readDifferingDays(
    db,
    stream,
    rows.flatMap(({ differingRuns }) => differingRuns),
  );
  return rows.map(({ fromAt, toAt, comparedAt, differingRuns, ...counts }) => ({
    ...counts,
    fromMs: fromAt.getTime(),
    toMs: toAt.getTime(),
    comparedAtMs: comparedAt.getTime(),
    differingDays: unionOf(differingRuns.map((id) => daysOfRun.get(id))),
  }));
}

/** In which days the resources were created that runs found to differ; without runs that do not show it. */
async function readDifferingDays(
  db: Queryable,
  stream: Stream,
  runIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const days = new Map<number, ReadonlySet<number>>();
  if (runIds.length === 0) return days;
  const reports = await readDifferences(db, runIds);
  const prefix = `${KIND_OF[stream]}:`;
  const idOf = (subject: string) => subject.slice(prefix.length);
  const ids = reports.flatMap(({ subjects }) => subjects.map(idOf));
  const local = await readLocalByIds(db, KIND_OF[stream], ids);
  const dayOfId = new Map(
    local.map(({ id, createdAt }) => [
      id,
      createdAt === null ? undefined : dayOf(createdAt.getTime()),
    ]),
  );
  for (const { id, subjects } of reports) {
    const known = subjects.map((subject) =>
      subject.startsWith(prefix) ? dayOfId.get(idOf(subject)) : undefined,
    );
    if (known.every((day) => day !== undefined)) days.set(id, new Set(known));
  }
  return days;
}

/** @returns undefined where there are none, or one of them is not known */
function unionOf(
  sets: readonly (ReadonlySet<number> | undefined)[],
): ReadonlySet<number> | undefined {
  if (sets.length === 0) return undefined;
  const union = new Set<number>();
  for (const days of sets) {
    if (days === undefined) return undefined;
    for (const day of days) union.add(day);
  }
  return union;
}
