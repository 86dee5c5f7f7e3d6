/** What pages that list orders and resources share: the filter, the totals and the way on. */
import type { ComponentChildren } from 'preact';
import { Pager } from '../components/blocks.tsx';
import { Field, FilterForm, Select } from '../components/forms.tsx';
import { Money } from '../components/values.tsx';
import type { LinkQuery } from '../links.ts';
import type { FilterQuery } from './listQuery.ts';

/** The fields that every list can be filtered by. */
export function ListFilterForm({
  action,
  query,
  children,
}: {
  readonly action: string;
  readonly query: FilterQuery;
  readonly children: ComponentChildren;
}) {
  return (
    <FilterForm action={action}>
      {children}
      <Field name="currency" label="Currency" value={query.currency} />
      <Field name="min" label="Amount from" value={query.min} />
      <Field name="max" label="Amount to" value={query.max} />
      <Field name="from" label="From (UTC)" type="date" value={query.from} />
      <Field name="to" label="Before (UTC)" type="date" value={query.to} />
      <Select
        name="only"
        label="Only"
        value={query.only}
        any="All"
        options={[
          { value: 'finding', label: 'with an open finding' },
          { value: 'uncertain', label: 'uncertain' },
        ]}
      />
    </FilterForm>
  );
}

export interface TotalRow {
  readonly currency: string | null;
  readonly count: number;
  readonly amounts: readonly (readonly [name: string, amountMinor: bigint])[];
}

export interface TotalsProps {
  readonly count: number;
  readonly isComplete: boolean;
  readonly rows: readonly TotalRow[];
  readonly csv: string;
  /** The same rows in other formats. */
  readonly others?: readonly { readonly label: string; readonly href: string }[];
}

/** The count and the sums of the filter, and its rows as CSV. */
export function Totals({ count, isComplete, rows, csv, others = [] }: TotalsProps) {
  const shown = `${count.toLocaleString('en')}${isComplete ? '' : '+'}`;
  return (
    <section class="totals" aria-label="Totals of the filter">
      <p>
        <strong>{shown}</strong> {count === 1 && isComplete ? 'row' : 'rows'}
        {isComplete ? '' : '; the sums are those of the newest rows that were counted'}.{' '}
        <a href={csv}>Download CSV</a>
        {others.map(({ label, href }) => (
          <span key={label}>
            {', '}
            <a href={href}>{label}</a>
          </span>
        ))}
      </p>
      <ul>
        {rows.map(({ currency, count: own, amounts }) => (
          <li key={currency}>
            {currency === null
              ? `${own} not seen yet`
              : `${own.toLocaleString('en')} in ${currency}: `}
            {amounts.map(([name, amountMinor], place) => (
              <span key={name}>
                {place === 0 ? '' : ', '}
                {name} <Money amountMinor={amountMinor} currency={currency} />
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a page without rows shows. @param none if the whole list has none */
export function emptyText(
  { current, next }: { readonly current: string | undefined; readonly next: string | null },
  none: string,
): string {
  if (next !== null) return 'No row matches so far.';
  return current === undefined ? none : 'No more rows match.';
}

/** A page searches a bounded number of rows, so a short one may have a next page. */
export function ListEnd({
  found,
  query,
  current,
  next,
  hrefOf,
}: {
  readonly found: number;
  readonly query: LinkQuery;
  readonly current: string | undefined;
  readonly next: string | null;
  readonly hrefOf: (query: LinkQuery) => string;
}) {
  return (
    <>
      {next !== null && found < PAGE_SIZE ? (
        <p>Older rows were not searched yet. Continue with the next page.</p>
      ) : null}
      <Pager
        first={current === undefined ? undefined : hrefOf(query)}
        next={next === null ? undefined : hrefOf({ ...query, cursor: next })}
      />
    </>
  );
}

export const PAGE_SIZE = 50;
