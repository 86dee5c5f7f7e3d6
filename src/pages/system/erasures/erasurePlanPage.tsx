/** A plan of an erasure: what would be erased, and the form that requests it. */
import { z } from 'zod';
import { subjectText } from '../../../erasure/domain/subjects.ts';
import type { KeptPlan, PlanCounts } from '../../../erasure/keepPlans.ts';
import { KeyValues, Section } from '../../components/blocks.tsx';
import { ActionForm, Check, Reason } from '../../components/forms.tsx';
import { erasureHref, erasurePlanHref, erasuresHref, eventHref } from '../../links.ts';
import { definePage, type Viewer } from '../../page.ts';
import { SystemNav } from '../SystemNav.tsx';
import { ERASURE_CRUMBS, Subjects } from './ErasureParts.tsx';
import { MAX_SUBJECTS, NO_PLAN, requestErasureAction } from './erasureActions.ts';

export const erasurePlanPage = definePage({
  path: '/system/erasures/plans/{plan_id}',
  permission: 'erase',
  params: z.strictObject({ plan_id: z.string() }),
  query: z.strictObject({}),
  load: ({ system }, { params }) => {
    const plan = system.erasurePlans.find(params.plan_id);
    return Promise.resolve(
      plan ? { outcome: 'ok', data: plan } : { outcome: 'not_found', message: NO_PLAN },
    );
  },
  view: (plan, viewer) => ({
    title: 'Plan of an erasure',
    crumbs: ERASURE_CRUMBS,
    body: (
      <>
        <SystemNav viewer={viewer} current={erasuresHref()} />
        <PlanOf plan={plan} viewer={viewer} />
        <Section title="Of">
          <Subjects subjects={plan.subjects.map(subjectText)} most={MAX_SUBJECTS} />
        </Section>
      </>
    ),
  }),
});

function PlanOf({ plan, viewer }: { readonly plan: KeptPlan; readonly viewer: Viewer }) {
  switch (plan.now.state) {
    case 'reading':
      return (
        <p class="notice" role="status">
          {`${plan.now.bodies.toLocaleString('en')} bodies were read so far. You can leave this page and come back. `}
          <a href={erasurePlanHref(plan.id)}>Show how far it is</a>
        </p>
      );
    case 'failed':
      return <p class="problem">{plan.now.message}</p>;
    case 'planned':
      return <Planned plan={plan} counts={plan.now.counts} viewer={viewer} />;
  }
}

function Planned({
  plan,
  counts,
  viewer,
}: {
  readonly plan: KeptPlan;
  readonly counts: PlanCounts;
  readonly viewer: Viewer;
}) {
  const { resources, events, values, pending, dead, unknown, running } = counts;
  if (running !== undefined) {
    return (
      <p class="notice warn">
        {'A request for the same is not done yet: '}
        <a href={erasureHref(running)}>{`erasure ${running}`}</a>.
      </p>
    );
  }
  if (unknown.length === plan.subjects.length) {
    return <p class="empty">Nothing is known of any of them. Ids are case-sensitive.</p>;
  }
  return (
    <>
      <KeyValues
        rows={[
          ...Object.entries(resources).map(([kind, rows]) => [`${kind}s`, rows] as const),
          ['Events that lose their bodies', events],
          ['Values searched for in every table', values],
          ['Events not applied yet, which wait', pending.length],
          ['Dead events', dead.length],
          ['Unknown subjects', unknown.length],
        ]}
      />
      {unknown.length === 0 ? null : (
        <Section title="Nothing is known of">
          <Subjects subjects={unknown.map(subjectText)} most={MAX_SUBJECTS} />
        </Section>
      )}
      {dead.length === 0 ? null : (
        <p class="notice warn">
          {`${dead.length} of the events could not be applied, and cannot be replayed afterwards. Replay them first: `}
          {dead.map((event) => (
            <span key={event}>
              <a href={eventHref(event)}>{event}</a>{' '}
            </span>
          ))}
        </p>
      )}
      <p>
        Amounts, statuses and ids stay. The events can no longer be replayed. This cannot be undone.
      </p>
      <ActionForm
        viewer={viewer}
        action={requestErasureAction}
        params={{ plan_id: plan.id }}
        label="Erase"
        isDangerous
      >
        <Reason />
        <Check
          name="confirm"
          value="yes"
          required
          label={`Bodies to erase: ${events}. Resources that lose their texts: ${sumOf(resources)}.`}
        />
      </ActionForm>
    </>
  );
}

const sumOf = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);
