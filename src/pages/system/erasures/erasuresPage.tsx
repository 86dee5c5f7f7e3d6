/** The list of erasures, and the form that plans one. */
import { z } from 'zod';
import { cursor } from '../../../console/schemas.ts';
import { type ErasureRow, readErasures } from '../../../erasure/store/erasures.ts';
import { cutPage, numberPlace, readCursor } from '../../../representation/cursor.ts';
import { type Column, DataTable, Pager, Section } from '../../components/blocks.tsx';
import { ActionForm, Select, TextArea } from '../../components/forms.tsx';
import { Time } from '../../components/values.tsx';
import { erasureHref, erasuresHref } from '../../links.ts';
import { definePage } from '../../page.ts';
import { SYSTEM_CRUMB, SystemNav } from '../SystemNav.tsx';
import { ErasureState, Subjects } from './ErasureParts.tsx';
import { MAX_SUBJECTS, planErasureAction } from './erasureActions.ts';

const PAGE_SIZE = 50;

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
