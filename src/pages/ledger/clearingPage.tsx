/** What the balance of psp.clearing consists of, and what is unmatched with settlement reports and bank statements. */
import { z } from 'zod';
import { currency, cursor } from '../../console/schemas.ts';
import {
  CLEARING_PART_NAMES,
  CLEARING_PARTS,
  type ClearingItem,
  type ClearingPartSum,
  type CurrencyClearing,
  clearingPlaceOf,
} from '../../ledger/domain/clearing.ts';
import type { NotRead } from '../../ledger/domain/statement.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { readUnmatched } from '../../ledger/read/clearing.ts';
import { whyNotRead } from '../../ledger/read/store/clearing.ts';
import { cutPage, placeRead, readCursor, timePlace } from '../../representation/cursor.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Field, FilterForm, Select } from '../components/forms.tsx';
import { Id, Money, Time } from '../components/values.tsx';
import { clearingHref, ledgerAccountHref, ledgerHref, subjectHref } from '../links.ts';
import { ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { definePage, type Loaded } from '../page.ts';
import { Balance } from './Balance.tsx';

const querySchema = z.strictObject({
  part: z.enum(CLEARING_PART_NAMES).optional(),
  currency: z.string().toUpperCase().pipe(currency).optional(),
  cursor,
});
type Query = z.output<typeof querySchema>;

export const clearingPage = definePage({
  path: '/ledger/clearing',
  permission: 'read',
  params: z.strictObject({}),
  query: querySchema,
  load: async ({ db }, { query }): Promise<Loaded<Data>> => {
    const place = readCursor(query.cursor, timePlace);
    if (place.outcome !== 'read') return place;
    const reason = await whyNotRead(db);
    if (reason) return { outcome: 'ok', data: { outcome: 'not_read', reason } };
    const { clearing, items } = await readUnmatched(db, {
      part: query.part,
      currency: query.currency,
      after: placeRead(place.place),
      limit: PAGE_SIZE + 1,
    });
    const { shown, next } = cutPage(items, PAGE_SIZE, clearingPlaceOf);
    return { outcome: 'ok', data: { outcome: 'read', clearing, shown, next, query } };
  },
  view: (data) => ({
    title: 'Clearing',
    crumbs: [{ label: 'Ledger', href: ledgerHref() }],
    body: (
      <>
        <p>
          What the service holds for you, <a href={ledgerAccountHref(ACCOUNT)}>{ACCOUNT}</a>, and
          why: compared with the settlement reports and bank statements that{' '}
          <code>tallyhook settle import</code> has read.
        </p>
        {data.outcome === 'read' ? (
          <Explained {...data} />
        ) : (
          <p class="empty">{NOT_READ[data.reason]}</p>
        )}
      </>
    ),
  }),
});

const ACCOUNT = 'psp.clearing';

interface Read {
  readonly clearing: readonly CurrencyClearing[];
  /** A page of the items. */
  readonly shown: readonly ClearingItem[];
  readonly next: string | null;
  readonly query: Query;
}

type Data =
  | ({ readonly outcome: 'read' } & Read)
  | { readonly outcome: 'not_read'; readonly reason: NotRead };

const NOT_READ: Readonly<Record<NotRead, string>> = {
  not_imported:
    'No settlement report or bank statement was imported, so all of it is unmatched. tallyhook settle import reads them.',
  too_large:
    'The journal is too large to match it for a page. tallyhook settle unmatched lists what is unmatched.',
};

function Explained({ clearing, shown, next, query: { cursor: current, ...query } }: Read) {
  return (
    <>
      {clearing.map((one) => (
        <Parts key={one.currency} {...one} />
      ))}
      <Section title="Unmatched">
        <FilterForm action={clearingHref()}>
          <Select
            name="part"
            label="Why"
            value={query.part}
            any="All"
            options={CLEARING_PART_NAMES.map((value) => ({ value, label: CLEARING_PARTS[value] }))}
          />
          <Field name="currency" label="Currency" value={query.currency} />
        </FilterForm>
        <DataTable
          caption="Unmatched, oldest first"
          columns={ITEM_COLUMNS}
          rows={shown}
          keyOf={({ part, subject, currency }) => `${part} ${subject} ${currency}`}
          empty="Nothing is unmatched."
        />
        <ListEnd
          found={PAGE_SIZE}
          query={query}
          current={current}
          next={next}
          hrefOf={clearingHref}
        />
      </Section>
    </>
  );
}

function Parts({ currency, balanceMinor, parts }: CurrencyClearing) {
  const columns: readonly Column<ClearingPartSum>[] = [
    { title: 'Why', cell: ({ part }) => CLEARING_PARTS[part] },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amountMinor }) => <Money amountMinor={amountMinor} currency={currency} />,
    },
    {
      title: 'Items',
      isNumber: true,
      cell: ({ part, items }) => <a href={clearingHref({ part, currency })}>{items}</a>,
    },
    {
      title: 'Oldest',
      cell: ({ sinceMicros }) => <Time at={formatInstant(sinceMicros)} isRelative />,
    },
  ];
  return (
    <Section title={currency}>
      <p>
        Balance: <Balance balanceMinor={balanceMinor} currency={currency} />
      </p>
      <DataTable
        caption={`Parts of the balance in ${currency}, which add up to it`}
        columns={columns}
        rows={parts}
        keyOf={({ part }) => part}
        empty="Everything is matched."
      />
    </Section>
  );
}

const ITEM_COLUMNS: readonly Column<ClearingItem>[] = [
  { title: 'Since', cell: ({ sinceMicros }) => <Time at={formatInstant(sinceMicros)} /> },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amountMinor, currency }) => <Money amountMinor={amountMinor} currency={currency} />,
  },
  { title: 'What', cell: ({ subject }) => <Subject subject={subject} /> },
  { title: 'Names', cell: ({ reference }) => reference ?? '' },
  { title: 'Why', cell: ({ part }) => CLEARING_PARTS[part] },
];

/** `payment:pay_1` with a link, `line:12` or `settlement:3`. */
function Subject({ subject }: { readonly subject: string }) {
  const [kind = '', ...id] = subject.split(':');
  const href = subjectHref(subject);
  return (
    <>
      {kind} {href === undefined ? id.join(':') : <Id id={id.join(':')} href={href} />}
    </>
  );
}
