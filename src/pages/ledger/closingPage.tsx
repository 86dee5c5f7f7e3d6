/** Closing a month and reopening it: what is unproven, the closings so far, and the forms. */
import { z } from 'zod';
import { closeMonth, reopenMonth } from '../../console/routes/closings.ts';
import { month, reasonGiven, timeZone } from '../../console/schemas.ts';
import {
  type Closing,
  type ClosingException,
  EXCEPTIONS,
  nextMonth,
} from '../../ledger/domain/closings.ts';
import { type ClosingPlan, readClosingPlan } from '../../statements/closePeriod.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Hidden, Reason } from '../components/forms.tsx';
import { Time } from '../components/values.tsx';
import { closingHref, ledgerHref, statementHref } from '../links.ts';
import { defineAction, definePage, type Viewer } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';

const params = z.strictObject({ month });

export const closingPage = definePage({
  path: '/ledger/statements/{month}/closing',
  permission: 'read',
  params,
  query: z.strictObject({ time_zone: timeZone.optional() }),
  load: async ({ db }, { params: { month: of }, query }) => ({
    outcome: 'ok',
    data: await readClosingPlan(db, { month: of, timeZone: query.time_zone }),
  }),
  view: (plan, viewer) => ({
    title: `Closing of ${plan.period.month}`,
    crumbs: [
      { label: 'Ledger', href: ledgerHref() },
      {
        label: `Statement of ${plan.period.month}`,
        href: statementHref(plan.period.month, { time_zone: plan.period.timeZone }),
      },
    ],
    body: (
      <>
        <Plan plan={plan} viewer={viewer} />
        <Section title="Closings of this month">
          <DataTable
            caption="Closings of this month"
            columns={CLOSINGS}
            rows={plan.closings}
            keyOf={({ id }) => String(id)}
            empty="It was never closed."
          />
        </Section>
      </>
    ),
  }),
});

interface PlanProps {
  readonly plan: ClosingPlan;
  readonly viewer: Viewer;
}

function Plan({ plan, viewer }: PlanProps) {
  const { period, may, closings } = plan;
  const closing = closings.find(({ reopenedMicros }) => reopenedMicros === null);
  if (closing) return <Reopening closing={closing} viewer={viewer} />;
  if (may.outcome !== 'ok') return <p class="notice warn">{may.message}</p>;
  return (
    <>
      <p>
        {`The sums of ${period.month} (${period.timeZone}) never change after this. What arrives later is ` +
          `booked in ${nextMonth(period)}, and the statements of both months list it.`}
        {may.previous ? '' : ' This is the first closing: it closes every month before it, too.'}
      </p>
      <Section title="What is unproven">
        <DataTable
          caption="What is unproven"
          columns={UNPROVEN}
          rows={plan.exceptions}
          keyOf={({ kind }) => kind}
          empty="Nothing: every event is applied, everything was compared, and no finding is open."
        />
      </Section>
      <ActionForm
        viewer={viewer}
        action={closeMonthAction}
        params={{ month: period.month }}
        label={`Close ${period.month}`}
      >
        <Hidden name="time_zone" value={period.timeZone} />
        <Reason />
        {plan.exceptions.length === 0 ? (
          <Check name="confirmed" value="yes" required label={`Close ${period.month}`} />
        ) : (
          <Check
            name="with_exceptions"
            value="yes"
            required
            label="Close it in spite of what is unproven, which is stored with the closing"
          />
        )}
      </ActionForm>
    </>
  );
}

function Reopening({ closing, viewer }: { readonly closing: Closing; readonly viewer: Viewer }) {
  return (
    <>
      <p class="headline">{`${closing.month} is closed by ${closing.closedBy}, version ${closing.version}.`}</p>
      <p>
        To reopen it lets late postings return to it. Its sums are kept with your name and reason,
        and closing it again makes a new version. Only the last closed month can be reopened.
      </p>
      <ActionForm
        viewer={viewer}
        action={reopenMonthAction}
        params={{ month: closing.month }}
        label={`Reopen ${closing.month}`}
        isDangerous
      >
        <Reason />
      </ActionForm>
    </>
  );
}

const UNPROVEN: readonly Column<ClosingException>[] = [
  { title: 'What', cell: ({ kind }) => EXCEPTIONS[kind] },
  { title: 'Count', isNumber: true, cell: ({ count }) => count },
  {
    title: 'Which',
    cell: ({ count, examples }) => `${examples.join(', ')}${count > examples.length ? ', …' : ''}`,
  },
];

const timeOf = (micros: number) => <Time at={new Date(micros / 1000)} />;

const CLOSINGS: readonly Column<Closing>[] = [
  { title: 'Version', isNumber: true, cell: ({ version }) => version },
  { title: 'Closed', cell: ({ closedMicros }) => timeOf(closedMicros) },
  { title: 'By', cell: ({ closedBy }) => closedBy },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Exceptions', isNumber: true, cell: ({ exceptions }) => exceptions.length },
  { title: 'Sealed', cell: ({ seal }) => (seal ? `block ${seal.blockNumber}` : 'not yet') },
  {
    title: 'Reopened',
    cell: ({ reopenedMicros }) => (reopenedMicros === null ? null : timeOf(reopenedMicros)),
  },
  { title: 'By', cell: ({ reopenedBy }) => reopenedBy },
  { title: 'Why', cell: ({ reopenedReason }) => reopenedReason },
];

const confirmation = z.literal('yes').optional();

export const closeMonthAction = defineAction({
  path: '/ledger/statements/{month}/close',
  permission: closeMonth.permission,
  params,
  form: z.strictObject({
    time_zone: timeZone,
    reason: reasonGiven,
    confirmed: confirmation,
    with_exceptions: confirmation,
  }),
  act: (parts, { params: { month: of }, form, actor }) => {
    const body = {
      time_zone: form.time_zone,
      with_exceptions: form.with_exceptions === 'yes',
      reason: form.reason,
    };
    const done = {
      to: statementHref(of, { time_zone: form.time_zone }),
      notice: `${of} is closed.`,
    };
    return throughEndpoint(closeMonth, parts, { actor, params: { month: of }, body }, done);
  },
});

export const reopenMonthAction = defineAction({
  path: '/ledger/statements/{month}/reopen',
  permission: reopenMonth.permission,
  params,
  form: z.strictObject({ reason: reasonGiven }),
  act: (parts, { params: { month: of }, form, actor }) => {
    const done = { to: closingHref(of), notice: `${of} is open again.` };
    return throughEndpoint(reopenMonth, parts, { actor, params: { month: of }, body: form }, done);
  },
});
