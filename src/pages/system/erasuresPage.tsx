/** Erasures of personal data: a plan with counts, the request, its progress and its proof. */
import { z } from 'zod';
import { requestErasure } from '../../console/routes/erasures.ts';
import { cursor, number, reasonGiven } from '../../console/schemas.ts';
import { parseId } from '../../contract/identifiers.ts';
import { SUBJECT_KINDS, subjectText } from '../../erasure/domain/subjects.ts';
import type { KeptPlan, PlanCounts } from '../../erasure/keepPlans.ts';
import { type ErasureRow, readErasure, readErasures } from '../../erasure/store/erasures.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, KeyValues, Pager, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Reason, Select, TextArea } from '../components/forms.tsx';
import { Badge, Id, Time } from '../components/values.tsx';
import { erasureHref, erasurePlanHref, erasuresHref, eventHref } from '../links.ts';
import { defineAction, definePage, type Viewer } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

const PAGE_SIZE = 50;
/** As many as the endpoint takes at once. */
const MAX_SUBJECTS = 50;
const CRUMBS = [SYSTEM_CRUMB, { label: 'Erasures', href: erasuresHref() }];

export const planErasureAction = defineAction({
  path: '/system/erasures/plan',
  permission: 'erase',
  params: z.strictObject({}),
  form: z.strictObject({ kind: z.enum(SUBJECT_KINDS), ids: z.string().max(16_384) }),
  act: ({ system }, { form: { kind, ids } }) => {
    const named = [...new Set(ids.split(/\r?\n/).map((line) => line.trim()))].filter(Boolean);
    const wrong = named.find((id) => parseId(id) === undefined);
    if (named.length === 0 || named.length > MAX_SUBJECTS || wrong !== undefined) {
      const message = `Name 1 to ${MAX_SUBJECTS} ids, one a line. Nothing was planned.`;
      return Promise.resolve({ outcome: 'invalid', message });
    }
    const id = system.erasurePlans.begin(named.map((one) => ({ kind, id: one })));
    if (id === undefined) {
      const message =
        'Other plans are being made, and each reads every body. Try again in minutes.';
      return Promise.resolve({ outcome: 'conflict', message });
    }
    const notice = 'The plan is being made. Nothing is erased before you confirm it.';
    return Promise.resolve({ outcome: 'done', to: erasurePlanHref(id), notice });
  },
});

const REQUESTED = z.object({ number: z.int() });

export const requestErasureAction = defineAction({
  path: '/system/erasures/plans/{plan_id}/erase',
  permission: 'erase',
  params: z.strictObject({ plan_id: z.string() }),
  form: z.strictObject({ reason: reasonGiven, confirm: z.literal('yes') }),
  act: async (parts, { params, form: { reason }, actor }) => {
    const plan = parts.system.erasurePlans.find(params.plan_id);
    if (plan?.now.state !== 'planned') return { outcome: 'not_found', message: NO_PLAN };
    const body = { subjects: plan.subjects, reason, confirm: true };
    return await throughEndpoint(requestErasure, parts, { actor, body }, (given) => ({
      outcome: 'done',
      to: erasureHref(REQUESTED.parse(given).number),
      notice: 'Requested. A process with the role scheduler begins within a minute.',
    }));
  },
});

const NO_PLAN =
  'There is no such plan: plans are kept in the memory of the console until it restarts. Nothing was erased. Plan again.';

export const erasuresPage = definePage({
  path: '/system/erasures',
  permission: 'read_audit',
  params: z.strictObject({}),
  query: z.strictObject({ cursor }),
  load: async ({ db }, { query: { cursor: current } }) => {
    const from = readCursor(current, numberPlace);
    if (from.outcome !== 'read') return from;
    const below = from.place?.[0] ?? Number.MAX_SAFE_INTEGER;
    const rows = await readErasures(db, { below, limit: PAGE_SIZE + 1 });
    const { shown, next } = cutPage(rows, PAGE_SIZE, (row) => [row.id]);
    return { outcome: 'ok', data: { erasures: shown, next, current } };
  },
  topics: () => ['erasures'],
  view: ({ erasures, next, current }, viewer) => ({
    title: 'Erasures',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={erasuresHref()} />
        <DataTable
          caption="Requests to erase personal data, newest first"
          columns={COLUMNS}
          rows={erasures}
          keyOf={({ id }) => String(id)}
          empty="No request for erasure yet. Plan one below."
        />
        <Pager
          first={current === undefined ? undefined : erasuresHref()}
          next={next === null ? undefined : erasuresHref({ cursor: next })}
        />
        <Section title="Plan an erasure">
          <p>
            A plan counts what would be erased, and erases nothing. It reads every stored body,
            which takes minutes in a large installation: name several at once.
          </p>
          <ActionForm viewer={viewer} action={planErasureAction} label="Plan">
            <Select name="kind" label="What the ids are of" options={KINDS} value="order" />
            <TextArea
              name="ids"
              label="Ids"
              required
              hint={`One a line, ${MAX_SUBJECTS} at most.`}
            />
          </ActionForm>
        </Section>
      </>
    ),
  }),
});

const KINDS = [
  { value: 'order', label: 'orders, with their payments, refunds and disputes' },
  { value: 'payment', label: 'payments, with their refunds and disputes, or payouts' },
  { value: 'customer', label: 'customers, with every payment and payout' },
] as const;

const MAX_NAMED = 3;

const COLUMNS: readonly Column<ErasureRow>[] = [
  { title: 'Erasure', cell: ({ id }) => <a href={erasureHref(id)}>{id}</a> },
  { title: 'State', cell: (row) => <ErasureState row={row} /> },
  { title: 'Requested', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
  { title: 'By', cell: ({ requestedBy }) => requestedBy },
  { title: 'Of', cell: ({ subjects }) => <Subjects subjects={subjects} most={MAX_NAMED} /> },
  { title: 'Bodies', isNumber: true, cell: ({ bodies }) => bodies },
  { title: 'Texts', isNumber: true, cell: ({ texts }) => texts },
];

function ErasureState({ row: { state, remaining } }: { readonly row: ErasureRow }) {
  if (state === 'running') return <Badge tone="warn">running</Badge>;
  if (remaining === null || remaining === 0) return <Badge tone="good">done</Badge>;
  return <Badge tone="bad">values are left</Badge>;
}

function Subjects({
  subjects,
  most,
}: {
  readonly subjects: readonly string[];
  readonly most: number;
}) {
  return (
    <>
      {subjects.slice(0, most).map((subject) => (
        <div key={subject}>
          <Id id={subject} />
        </div>
      ))}
      {subjects.length > most ? <div>{`and ${subjects.length - most} more`}</div> : null}
    </>
  );
}

export const erasurePage = definePage({
  path: '/system/erasures/{erasure_number}',
  permission: 'read_audit',
  params: z.strictObject({ erasure_number: number }),
  query: z.strictObject({}),
  load: async ({ db }, { params: { erasure_number: place } }) => {
    const row = await readErasure(db, place);
    if (row) return { outcome: 'ok', data: row };
    const message = `There is no erasure ${place}. The list of erasures has the others.`;
    return { outcome: 'not_found', message };
  },
  topics: () => ['erasures'],
  view: (row, viewer) => ({
    title: `Erasure ${row.id}`,
    crumbs: CRUMBS,
    body: (
      <>
        <SystemNav viewer={viewer} current={erasuresHref()} />
        {row.state === 'running' ? (
          <p class="notice warn" role="status">
            {
              'A process with the role scheduler works on it, and another continues if that ends. Events that are not applied yet delay it. '
            }
            <a href={erasureHref(row.id)}>Show how far it is</a>
          </p>
        ) : null}
        <KeyValues
          rows={[
            ['State', <ErasureState key="state" row={row} />],
            ['Of', <Subjects key="of" subjects={row.subjects} most={MAX_SUBJECTS} />],
            ['Reason', row.reason],
            ['Requested by', row.requestedBy],
            ['Requested', <Time key="requested" at={row.requestedAt} />],
            ['Finished', <Time key="finished" at={row.finishedAt} />],
            ['Bodies erased', row.bodies],
            ['Texts replaced', row.texts],
          ]}
        />
        <ErasureProofOf row={row} />
      </>
    ),
  }),
});

function ErasureProofOf({ row: { proof, state } }: { readonly row: ErasureRow }) {
  if (!proof) {
    const text =
      state === 'running'
        ? 'At the end, every table is searched for the values, and the result is shown here.'
        : 'An earlier version made this erasure and kept no proof.';
    return (
      <Section title="Proof">
        <p class="empty">{text}</p>
      </Section>
    );
  }
  return (
    <Section title="Proof">
      <DataTable
        caption="Tables in which values are left"
        columns={PLACES}
        rows={proof.places}
        keyOf={({ table }) => table}
        empty="A search of every table found none of the values."
      />
      {proof.events.length === 0 ? null : (
        <p>
          {
            'Other events have the same values, perhaps of payments without the id of the customer. Look at them, and erase their payments: '
          }
          {proof.events.map((event) => (
            <span key={event}>
              <a href={eventHref(event)}>{event}</a>{' '}
            </span>
          ))}
        </p>
      )}
      {proof.unreadable_tables.length === 0 ? null : (
        <p>{`Not searched, because the database role may not read them: ${proof.unreadable_tables.join(', ')}. Run npx tallyhook erasures check as the owner of the database.`}</p>
      )}
      {proof.to_vacuum.length === 0 ? null : (
        <p>{`Earlier versions of rows stay in the files of the database until vacuum (analyze) ${proof.to_vacuum.join(', ')}.`}</p>
      )}
    </Section>
  );
}

const PLACES: readonly Column<{ readonly table: string; readonly rows: number }>[] = [
  { title: 'Table', cell: ({ table }) => <code>{table}</code> },
  { title: 'Rows', isNumber: true, cell: ({ rows }) => rows },
];

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
    crumbs: CRUMBS,
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
