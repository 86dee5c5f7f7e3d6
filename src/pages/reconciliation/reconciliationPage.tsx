/** Reconciliation: what was compared with the service and when, its runs, and how to start one. */
import { z } from 'zod';
import { cursor } from '../../console/schemas.ts';
import { readCalendar } from '../../reconcile/calendar.ts';
import { countAwaited } from '../../reconcile/store/awaited.ts';
import { type BudgetInUse, readBudget } from '../../reconcile/store/budget.ts';
import { type Pause, readPause } from '../../reconcile/store/pauses.ts';
import { readMissedByDay } from '../../reconcile/store/progress.ts';
import { MODES, type RunRow, readRuns } from '../../reconcile/store/runs.ts';
import { readWatermarks } from '../../reconcile/store/streams.ts';
import { STREAMS } from '../../reconcile/streams.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { DataTable, KeyValues, Pager, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Field, FilterForm, Reason, Select } from '../components/forms.tsx';
import { Time } from '../components/values.tsx';
import { reconciliationHref, runHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { pauseRequests, resumeRequests, startRuns } from './actions.ts';
import { Calendar } from './calendar.tsx';
import { MissedWebhooks } from './missed.tsx';
import { percentOf, RUN_COLUMNS } from './runColumns.tsx';

const DAYS = 30;
const PAGE_SIZE = 25;

export const reconciliationPage = definePage({
  path: '/reconciliation',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ stream: z.enum(STREAMS).optional(), cursor }),
  load: async ({ db, clock }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const [calendar, watermarks, pause, budget, missed, awaited, rows] = await Promise.all([
      readCalendar(db, { nowMs: clock.nowMs(), days: DAYS }),
      readWatermarks(db),
      readPause(db),
      readBudget(db),
      readMissedByDay(db, DAYS),
      countAwaited(db, STREAMS),
      readRuns(db, {
        stream: query.stream,
        below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER,
        limit: PAGE_SIZE + 1,
      }),
    ]);
    const { shown, next } = cutPage(rows, PAGE_SIZE, (row) => [row.id]);
    return {
      outcome: 'ok',
      data: { calendar, watermarks, pause, budget, missed, awaited, runs: shown, next, query },
    };
  },
  topics: () => ['runs'],
  view: ({ calendar, watermarks, pause, budget, missed, awaited, runs, next, query }, viewer) => ({
    title: 'Reconciliation',
    body: (
      <>
        <PauseState pause={pause} viewer={viewer} />
        <UnderWay runs={runs.filter(({ state }) => state === 'running')} />
        <Section title="Start runs">
          <StartForm viewer={viewer} />
        </Section>
        <Section title="Compared with the service">
          <Calendar days={calendar} />
          <Watermarks watermarks={watermarks} />
        </Section>
        <Section title="Missed webhooks">
          <MissedWebhooks
            missed={missed}
            awaited={awaited}
            days={calendar
              .map(({ dayMs }) => new Date(dayMs).toISOString().slice(0, 10))
              .toReversed()}
          />
        </Section>
        <Section title="Requests to the service">
          <Budget budget={budget} />
        </Section>
        <Section title="Runs">
          <FilterForm action={reconciliationHref()}>
            <Select
              name="stream"
              label="List"
              value={query.stream}
              any="All"
              options={[...STREAMS]}
            />
          </FilterForm>
          <DataTable
            caption="Runs, newest first"
            columns={RUN_COLUMNS}
            rows={runs}
            keyOf={({ id }) => String(id)}
            empty="No run yet. The scheduler starts the first one within minutes; or start one above."
          />
          <Pager
            first={
              query.cursor === undefined ? undefined : reconciliationHref({ stream: query.stream })
            }
            next={
              next === null ? undefined : reconciliationHref({ stream: query.stream, cursor: next })
            }
          />
        </Section>
      </>
    ),
  }),
});

/** Runs that are not over, each with its progress. */
function UnderWay({ runs }: { readonly runs: readonly RunRow[] }) {
  return (
    <>
      {runs.map((run) => (
        <p key={run.id} class="headline">
          <a href={runHref(run.id)}>{`Run ${run.id}`}</a>
          {` compares ${run.stream}${run.isDryRun ? ' (dry run)' : ''}: ${percentOf(run)} % done, ${run.found} found.`}
        </p>
      ))}
    </>
  );
}

/** The service's rate limit, which all processes share. */
function Budget({
  budget: { limit, remaining, backgroundRequests },
}: {
  readonly budget: BudgetInUse;
}) {
  const background = `Background work sent ${backgroundRequests} in its current minute.`;
  if (limit === null || remaining === null) {
    return <p>{`The service has sent no limit yet. ${background}`}</p>;
  }
  const used = limit - remaining;
  return (
    <>
      <p>{`${used} of ${limit} requests of this minute are used. ${background}`}</p>
      <progress max={Math.max(1, limit)} value={used} aria-label="Requests used of the limit" />
    </>
  );
}

function PauseState({
  pause,
  viewer,
}: {
  readonly pause: Pause | undefined;
  readonly viewer: Viewer;
}) {
  if (!pause) {
    return (
      <details>
        <summary>Background requests to the service are sent. Pause them …</summary>
        <ActionForm viewer={viewer} action={pauseRequests} label="Pause">
          <Reason />
        </ActionForm>
      </details>
    );
  }
  return (
    <div class="notice warn">
      {`Background requests are paused by ${pause.pausedBy}: ${pause.reason}. Since `}
      <Time at={pause.pausedAt} />
      <ActionForm viewer={viewer} action={resumeRequests} label="Resume" />
    </div>
  );
}

function Watermarks({
  watermarks,
}: {
  readonly watermarks: Awaited<ReturnType<typeof readWatermarks>>;
}) {
  return (
    <KeyValues
      rows={watermarks.map(({ stream, at }) => [
        `${stream} read up to`,
        <Time key={stream} at={at} isRelative />,
      ])}
    />
  );
}

function StartForm({ viewer }: { readonly viewer: Viewer }) {
  const hint = 'UTC; empty: from shortly before the end of the last run, to now';
  return (
    <ActionForm viewer={viewer} action={startRuns} label="Start">
      <Select name="stream" label="List" options={['all', ...STREAMS]} value="all" />
      <Select
        name="mode"
        label="Mode"
        value="full"
        options={MODES.map((mode) => ({ value: mode, label: MODE_LABELS[mode] }))}
      />
      <Field name="from" label="Created from" type="datetime-local" hint={hint} />
      <Field name="to" label="Created to" type="datetime-local" />
      <Check name="dry_run" value="yes" label="Dry run: report, and change nothing" />
    </ActionForm>
  );
}

const MODE_LABELS = {
  full: 'full: list every row',
  totals: 'totals: list where counts differ',
} as const;
