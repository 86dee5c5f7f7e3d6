/** The calendar of reconciliation: for each day and list, when it was compared and with which result. */
import {
  coverageOfDay,
  type DayCoverage,
  type DayResult,
  lastDays,
} from '../../reconcile/domain/coverage.ts';
import type { StretchRow } from '../../reconcile/store/runs.ts';
import { STREAMS, type Stream } from '../../reconcile/streams.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';

interface CalendarDay {
  readonly dayMs: number;
  readonly streams: Readonly<Record<Stream, DayCoverage>>;
}

export function Calendar(props: {
  readonly stretches: readonly StretchRow[];
  readonly nowMs: number;
  readonly days: number;
}) {
  return (
    <>
      <DataTable
        caption={`The last ${props.days} days (UTC), by the time at which a resource was created`}
        columns={COLUMNS}
        rows={calendarDays(props)}
        keyOf={({ dayMs }) => String(dayMs)}
        empty="No day."
      />
      <p>
        equal: the service and the ledger agree. repaired: differences were found and corrected.
        different: a difference remains, see the findings. empty: neither side has a resource.
      </p>
    </>
  );
}

function calendarDays({
  stretches,
  nowMs,
  days,
}: {
  readonly stretches: readonly StretchRow[];
  readonly nowMs: number;
  readonly days: number;
}): readonly CalendarDay[] {
  const of = (stream: Stream) =>
    stretches
      .filter((row) => row.stream === stream)
      .map(({ fromAt, toAt, comparedAt, ...counts }) => ({
        ...counts,
        fromMs: fromAt.getTime(),
        toMs: toAt.getTime(),
        comparedAtMs: comparedAt.getTime(),
      }));
  const [payments, refunds, disputes, payouts] = STREAMS.map(of);
  const lists = { payments, refunds, disputes, payouts };
  const coverage = (stream: Stream, dayMs: number) => coverageOfDay(lists[stream] ?? [], dayMs);
  return lastDays(nowMs, days).map((dayMs) => ({
    dayMs,
    streams: {
      payments: coverage('payments', dayMs),
      refunds: coverage('refunds', dayMs),
      disputes: coverage('disputes', dayMs),
      payouts: coverage('payouts', dayMs),
    },
  }));
}

const COLUMNS: readonly Column<CalendarDay>[] = [
  {
    title: 'Day',
    cell: ({ dayMs }) => <span class="day">{new Date(dayMs).toISOString().slice(0, 10)}</span>,
  },
  ...STREAMS.map((stream) => ({
    title: stream,
    cell: ({ streams }: CalendarDay) => <Day covered={streams[stream]} />,
  })),
];

const TONES: Readonly<Record<DayResult, Tone>> = {
  empty: 'plain',
  equal: 'good',
  repaired: 'warn',
  different: 'bad',
};

function Day({ covered }: { readonly covered: DayCoverage }) {
  if (covered.coverage === 'none') return <span class="nothing">not compared</span>;
  const { coverage, result, comparedAtMs, comparedToMs } = covered;
  return (
    <>
      <Badge tone={TONES[result]}>{result}</Badge>
      {coverage === 'part' ? (
        <small>
          {' in part, up to '}
          <Time at={new Date(comparedToMs)} />
        </small>
      ) : (
        <small>
          {' at '}
          <Time at={new Date(comparedAtMs)} />
        </small>
      )}
    </>
  );
}
