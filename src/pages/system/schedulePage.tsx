/** The schedules: what became of the latest run of each, when the next one is, and runs at once. */
import { z } from 'zod';
import { runSchedule } from '../../console/routes/schedules.ts';
import { type ProcessRow, readProcesses } from '../../monitor/store/processes.ts';
import { SECOND_MS } from '../../platform/time.ts';
import { type Pause, readPause } from '../../reconcile/store/pauses.ts';
import type { RunResult, ScheduleState } from '../../scheduler/domain/state.ts';
import { readSchedules } from '../../scheduler/readSchedules.ts';
import { type Column, DataTable, KeyValues, Section } from '../components/blocks.tsx';
import { ActionForm, Reason, Select } from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { reconciliationHref, scheduleHref } from '../links.ts';
import { defineAction, definePage } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

/** More than an installation has. */
const MAX_PROCESSES = 200;

export const runScheduleNow = defineAction({
  path: '/system/schedule/run',
  permission: runSchedule.permission,
  params: z.strictObject({}),
  form: z.strictObject({ name: z.string(), reason: z.string() }),
  act: (parts, { form: { name, reason }, actor }) =>
    throughEndpoint(
      runSchedule,
      parts,
      { actor, params: { name }, body: { reason } },
      { to: scheduleHref(), notice: `A run of ${name} is requested.` },
    ),
});

export const schedulePage = definePage({
  path: '/system/schedule',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: async (parts) => {
    const { db, schedules } = parts;
    const [states, processes, pause] = await Promise.all([
      readSchedules(parts, schedules),
      readProcesses(db, MAX_PROCESSES),
      readPause(db),
    ]);
    return { outcome: 'ok', data: { states, processes, pause } };
  },
  topics: () => ['system', 'runs'],
  view: ({ states, processes, pause }, viewer) => ({
    title: 'Schedule',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={scheduleHref()} />
        <Verdict states={states} processes={processes} />
        {pause ? <PauseNotice pause={pause} /> : null}
        <DataTable
          caption="Schedules, those that need attention first"
          columns={COLUMNS}
          rows={states.toSorted(byUrgency)}
          keyOf={({ name }) => name}
          empty="None."
        />
        <details>
          <summary>What each does</summary>
          <KeyValues rows={states.map(({ name, does }) => [name, does])} />
        </details>
        <Section title="Run now">
          <p>
            A process with the role scheduler starts the run within seconds. A run that is under way
            ends first, so a schedule never runs twice at a time.
          </p>
          <ActionForm viewer={viewer} action={runScheduleNow} label="Run now">
            <Select
              name="name"
              label="Schedule"
              options={states
                .filter(({ runs }) => runs === 'once')
                .map(({ name, does }) => ({ value: name, label: `${name}: ${does}` }))}
            />
            <Reason />
          </ActionForm>
        </Section>
      </>
    ),
  }),
});

function Verdict({
  states,
  processes,
}: {
  readonly states: readonly ScheduleState[];
  readonly processes: readonly ProcessRow[];
}) {
  if (!processes.some(({ isSeen, roles }) => isSeen && roles.includes('scheduler'))) {
    return (
      <p class="notice bad">
        {'No process has the role scheduler, so nothing here runs. Start one: '}
        <code>npx tallyhook start --roles scheduler</code>
      </p>
    );
  }
  const names = (wanted: (state: ScheduleState) => boolean) =>
    states.filter(wanted).map(({ name }) => name);
  const overdue = names(({ isOverdue }) => isOverdue);
  const failed = names(({ result }) => result === 'failed');
  if (overdue.length === 0 && failed.length === 0) {
    return <p class="notice good">Every schedule runs on time, and no latest run failed.</p>;
  }
  const parts = [
    ...(overdue.length > 0 ? [`Overdue: ${overdue.join(', ')}.`] : []),
    ...(failed.length > 0 ? [`Failed: ${failed.join(', ')}. The next slot tries again.`] : []),
  ];
  return <p class={`notice ${overdue.length > 0 ? 'bad' : 'warn'}`}>{parts.join(' ')}</p>;
}

function PauseNotice({ pause }: { readonly pause: Pause }) {
  return (
    <p class="notice warn">
      {`Reconciliation is paused by ${pause.pausedBy}: ${pause.reason}. Its schedules run, and nothing is compared. `}
      <a href={reconciliationHref()}>Resume</a>
    </p>
  );
}

function byUrgency(one: ScheduleState, other: ScheduleState): number {
  return urgency(other) - urgency(one);
}

function urgency({ isOverdue, result, request }: ScheduleState): number {
  if (isOverdue) return 3;
  if (result === 'failed' || result === 'interrupted') return 2;
  return request !== undefined || result === 'running' ? 1 : 0;
}

const RESULTS: Readonly<Record<RunResult, { readonly tone: Tone; readonly label: string }>> = {
  running: { tone: 'plain', label: 'running' },
  done: { tone: 'good', label: 'done' },
  failed: { tone: 'bad', label: 'failed' },
  interrupted: { tone: 'warn', label: 'interrupted' },
  never: { tone: 'plain', label: 'not run yet' },
  unrecorded: { tone: 'plain', label: 'not recorded' },
};

const COLUMNS: readonly Column<ScheduleState>[] = [
  { title: 'Schedule', cell: ({ name }) => name },
  { title: 'Result', cell: (state) => <Result state={state} /> },
  {
    title: 'Seconds',
    isNumber: true,
    cell: ({ durationMs }) =>
      durationMs === undefined ? null : (durationMs / SECOND_MS).toFixed(2),
  },
  { title: 'Latest run', cell: ({ run }) => <Time at={run?.at ?? null} isRelative /> },
  { title: 'Next', cell: ({ nextAt }) => <Time at={nextAt ?? null} isRelative /> },
  { title: 'Every', cell: ({ every }) => every },
];

function Result({ state }: { readonly state: ScheduleState }) {
  const { result, run, isOverdue, request } = state;
  const { tone, label } = RESULTS[result];
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {isOverdue ? (
        <>
          {' '}
          <Badge tone="bad">overdue</Badge>
        </>
      ) : null}
      {run?.error ? <div>{run.error}</div> : null}
      {request ? <div>{`Requested by ${request.requestedBy}: ${request.reason}`}</div> : null}
    </>
  );
}
