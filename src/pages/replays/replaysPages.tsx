/** Replays of many events: the plan before one, the list, and one with its progress. */
import { z } from 'zod';
import { planReplay } from '../../actions/replayRuns.ts';
import { cursor, number } from '../../console/schemas.ts';
import { readEventFilter } from '../../ledger/read/eventFilter.ts';
import type { EventCount } from '../../ledger/read/store/events.ts';
import {
  type ReplayRun,
  readReplayRun,
  readReplayRuns,
  type StoredFilter,
} from '../../ledger/read/store/replayRuns.ts';
import { counted } from '../../platform/counted.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, KeyValues, Pager, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Reason } from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { filterQuery, inboxFilter, timesOf } from '../inbox/inboxFilter.ts';
import { eventHref, inboxHref, replayHref, replaysHref } from '../links.ts';
import { definePage, type Viewer } from '../page.ts';
import { chosenEvents, startReplay, stopReplay } from './replayActions.ts';

const PAGE_SIZE = 50;
const INBOX = { label: 'Inbox', href: inboxHref() };

export const newReplayPage = definePage({
  path: '/replays/new',
  permission: 'operate',
  params: z.strictObject({}),
  query: z.strictObject({ ...inboxFilter, event: chosenEvents }),
  load: async ({ db }, { query }) => {
    const filter = await readEventFilter(db, timesOf(query), query.event);
    const plan = await planReplay({ db }, filter);
    const fields = { ...filterQuery(query), event: query.event };
    return { outcome: 'ok', data: { filter, plan, fields } };
  },
  view: ({ filter, plan, fields }, viewer) => ({
    title: 'Replay events',
    crumbs: [INBOX],
    body:
      plan.count === 0 && plan.isComplete ? (
        <p class="empty">No event matches. Go back to the inbox and choose others.</p>
      ) : (
        <>
          <p class="headline">{`${countText(plan)} will be applied again.`}</p>
          <KeyValues rows={filterRows(filter)} />
          <p>
            What is in the ledger already does not change. Events without a body are refused and
            listed.
          </p>
          <ActionForm viewer={viewer} action={startReplay} label="Replay">
            {Object.entries(fields).flatMap(([name, value]) =>
              [value ?? []]
                .flat()
                .map((one) => (
                  <input key={`${name} ${one}`} type="hidden" name={name} value={one} />
                )),
            )}
            <Reason />
            <Check name="confirmed" value="yes" required label={`Replay ${countText(plan)}`} />
          </ActionForm>
        </>
      ),
  }),
});

function countText({ count, isComplete }: EventCount): string {
  if (!isComplete) return `${count} events or more`;
  return counted(count, 'event');
}

function filterRows({ state, type, from, to, numbers }: StoredFilter) {
  return [
    ['State of the events', state?.replace('_', ' ') ?? 'any'],
    ['Type', type ?? 'any'],
    ['Received from', from === undefined ? 'the beginning' : <Time key="from" at={from} />],
    ['Received before', to === undefined ? 'now' : <Time key="to" at={to} />],
    ['Chosen', numbers === undefined ? 'all of these' : `${numbers.length} by number`],
  ] as const;
}

export const replaysPage = definePage({
  path: '/replays',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({ cursor }),
  load: async ({ db }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const below = from.place?.[0] ?? Number.MAX_SAFE_INTEGER;
    const rows = await readReplayRuns(db, { below, limit: PAGE_SIZE + 1 });
    const { shown, next } = cutPage(rows, PAGE_SIZE, (row) => [row.id]);
    return { outcome: 'ok', data: { runs: shown, next, isFirst: query.cursor === undefined } };
  },
  topics: () => ['replays'],
  view: ({ runs, next, isFirst }) => ({
    title: 'Replays',
    crumbs: [INBOX],
    body: (
      <>
        <DataTable
          caption="Replays of many events, newest first"
          columns={COLUMNS}
          rows={runs}
          keyOf={({ id }) => String(id)}
          empty="None yet. Filter the inbox or check events there, and replay them."
        />
        <Pager
          first={isFirst ? undefined : replaysHref()}
          next={next === null ? undefined : replaysHref({ cursor: next })}
        />
      </>
    ),
  }),
});

const TONES: Readonly<Record<ReplayRun['state'], Tone>> = {
  running: 'warn',
  stopped: 'plain',
  done: 'good',
};

const COLUMNS: readonly Column<ReplayRun>[] = [
  { title: 'Replay', cell: ({ id }) => <a href={replayHref(id)}>{id}</a> },
  { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  { title: 'Planned', isNumber: true, cell: plannedText },
  { title: 'Replayed', isNumber: true, cell: ({ replayed }) => replayed },
  { title: 'Refused', isNumber: true, cell: ({ refused }) => refused },
  { title: 'Requested by', cell: ({ requestedBy }) => requestedBy },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Requested', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

function plannedText({ planned, isPlannedComplete }: ReplayRun): string {
  return `${planned}${isPlannedComplete ? '' : '+'}`;
}

export const replayPage = definePage({
  path: '/replays/{replay_number}',
  permission: 'read',
  params: z.strictObject({ replay_number: number }),
  query: z.strictObject({}),
  load: async ({ db }, { params: { replay_number: id } }) => {
    const run = await readReplayRun(db, id);
    if (run) return { outcome: 'ok', data: run };
    return { outcome: 'not_found', message: `There is no replay ${id}. The list has all of them.` };
  },
  topics: () => ['replays'],
  view: (run, viewer) => ({
    title: `Replay ${run.id}`,
    crumbs: [INBOX, { label: 'Replays', href: replaysHref() }],
    body: (
      <>
        <Progress run={run} viewer={viewer} />
        <KeyValues
          rows={[
            ['Requested by', run.requestedBy],
            ['Reason', run.reason],
            ['Requested', <Time key="requested" at={run.requestedAt} />],
            ['Finished', <Time key="finished" at={run.finishedAt} />],
            ...(run.stoppedBy === null ? [] : [['Stopped by', run.stoppedBy] as const]),
            ...filterRows(run.filter),
          ]}
        />
        <Section title="Refused">
          <DataTable
            caption={`${run.refused} in all; the first are listed`}
            columns={REFUSALS}
            rows={run.refusals}
            keyOf={(refusal) => String(refusal.number)}
            empty="No event was refused."
          />
        </Section>
        <p>
          <a href={inboxHref({ replay: run.id })}>Events that it has chosen</a>{' '}
          <a href={inboxHref({ state: 'dead' })}>Events that are dead now</a>
        </p>
      </>
    ),
  }),
});

const REFUSALS: readonly Column<ReplayRun['refusals'][number]>[] = [
  { title: 'Event', cell: ({ number: id }) => <a href={eventHref(id)}>{id}</a> },
  { title: 'Reason', cell: ({ reason }) => reason },
];

function Progress({ run, viewer }: { readonly run: ReplayRun; readonly viewer: Viewer }) {
  const handled = run.replayed + run.refused;
  return (
    <>
      <p class="headline">
        <Badge tone={TONES[run.state]}>{run.state}</Badge>
        {` ${handled} of ${plannedText(run)} events: ${run.replayed} replayed, ${run.refused} refused.`}
      </p>
      <progress
        max={Math.max(1, run.planned)}
        value={run.state === 'done' ? Math.max(1, run.planned) : handled}
        aria-label="Events that are handled"
      />
      {run.state === 'running' ? (
        <ActionForm
          viewer={viewer}
          action={stopReplay}
          params={{ replay_number: run.id }}
          label="Stop"
          isDangerous
        />
      ) : null}
    </>
  );
}
