/** The calendar of reconciliation: for each day and list, when it was compared and with which result. */
import type { CalendarDay } from '../../reconcile/calendar.ts';
import type { DayCoverage, DayResult } from '../../reconcile/domain/coverage.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';

export function Calendar({ days }: { readonly days: readonly CalendarDay[] }) {
  return (
    <>
      <DataTable
        caption={`The last ${days.length} days (UTC), by the time at which a resource was created`}
        columns={COLUMNS}
        rows={days}
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
