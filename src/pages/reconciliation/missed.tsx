/** Missed webhooks by day: what runs found that no webhook had reported in time. */
import type { MissedOnDay } from '../../reconcile/store/progress.ts';
import { STREAMS, type Stream } from '../../reconcile/streams.ts';
import { BarChart } from '../components/BarChart.tsx';
import { type Column, DataTable } from '../components/blocks.tsx';

interface MissedDay {
  readonly day: string;
  readonly byStream: ReadonlyMap<Stream, number>;
}

interface Missed {
  readonly missed: readonly MissedOnDay[];
  /** In UTC, oldest first. */
  readonly days: readonly string[];
}

export function MissedWebhooks({
  awaited,
  ...counted
}: Missed & {
  /** Changes that runs repaired, and whose webhooks have still time to arrive. */
  readonly awaited: number;
}) {
  return (
    <>
      <Counted {...counted} />
      {awaited > 0 && (
        <p>{`${webhooksOf(awaited)} may still arrive. The next scheduled run counts what was lost.`}</p>
      )}
    </>
  );
}

function webhooksOf(awaited: number): string {
  if (awaited === 1) return 'The webhook of 1 repaired change';
  return `The webhooks of ${awaited} repaired changes`;
}

function Counted({ missed, days }: Missed) {
  const all = total(missed);
  if (all === 0) {
    return (
      <p class="empty">{`None in ${days.length} days. What a first import finds does not count.`}</p>
    );
  }
  const rows = days.map((day): MissedDay => {
    const ofDay = missed.filter((one) => one.day === day);
    return { day, byStream: new Map(ofDay.map((one) => [one.stream, one.missed])) };
  });
  const streams = STREAMS.filter((stream) => missed.some((one) => one.stream === stream));
  return (
    <>
      <div class="figures">
        {streams.map((stream) => (
          <div key={stream} class="figure">
            <h3>{`Missed for ${stream}`}</h3>
            <p class="amount">{total(missed.filter((one) => one.stream === stream))}</p>
            <BarChart
              label={`Missed webhooks of ${stream} by day; the table below has the numbers`}
              tone="out"
              bars={rows.map(({ day, byStream }) => {
                const value = byStream.get(stream) ?? 0;
                return { name: day, value, text: String(value) };
              })}
            />
            <p class="cause">{`${days.length} days`}</p>
          </div>
        ))}
      </div>
      <details>
        <summary>{`By day (${all} in all)`}</summary>
        <DataTable
          caption="Missed webhooks by the day (UTC) on which a run counted them, newest first"
          columns={columnsOf(streams)}
          rows={rows.filter(({ byStream }) => byStream.size > 0).toReversed()}
          keyOf={({ day }) => day}
          empty=""
        />
      </details>
    </>
  );
}

function total(missed: readonly MissedOnDay[]): number {
  return missed.reduce((sum, one) => sum + one.missed, 0);
}

function columnsOf(streams: readonly Stream[]): readonly Column<MissedDay>[] {
  return [
    { title: 'Day', cell: ({ day }) => <span class="day">{day}</span> },
    ...streams.map((stream) => ({
      title: stream,
      isNumber: true,
      cell: ({ byStream }: MissedDay) => byStream.get(stream) ?? 0,
    })),
  ];
}
