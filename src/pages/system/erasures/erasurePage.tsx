/** An erasure with its progress and its proof. */
import { z } from 'zod';
import { number } from '../../../console/schemas.ts';
import { type ErasureRow, readErasure } from '../../../erasure/store/erasures.ts';
import { type Column, DataTable, KeyValues, Section } from '../../components/blocks.tsx';
import { Time } from '../../components/values.tsx';
import { erasureHref, erasuresHref, eventHref } from '../../links.ts';
import { definePage } from '../../page.ts';
import { SystemNav } from '../SystemNav.tsx';
import { ERASURE_CRUMBS, ErasureState, Subjects } from './ErasureParts.tsx';
import { MAX_SUBJECTS } from './erasureActions.ts';

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
    crumbs: ERASURE_CRUMBS,
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
