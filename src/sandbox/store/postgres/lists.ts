/** Statements behind the list endpoints. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { Resource } from '../../domain/resource.ts';
import type { ListFilter, ListOrder, ListPage } from '../lists.ts';

const NOW_ROWS = 'sandbox.resources';

/** The state at $1. */
const PAST_ROWS = `(
  select kind, id, parent_id, status, currency, customer_id, created_at, modified_at, state
    from sandbox.resources
   where coalesce(recorded_at, modified_at) <= $1
   union all
  select kind, id, parent_id, status, currency, customer_id, created_at, modified_at, state
    from sandbox.past_resources
   where valid_until > $1 and coalesce(recorded_at, modified_at) <= $1
)`;

/**
 * A single value is compared with `=` rather than as an array of one: only then can an index on it also
 * provide the order. $1 is the time to show; the typed use keeps the parameter where it is not needed.
 */
const CONDITIONS = `
      where kind = $2 and ($1::timestamptz is null or true)
        and ($3::text is null or status = $3) and ($4::text[] is null or status = any($4))
        and ($5::text is null or currency = $5) and ($6::text[] is null or currency = any($6))
        and ($7::text is null or customer_id = $7)
        and ($8::text is null or id = $8)
        and ($9::text is null or parent_id = $9)
        and ($10::timestamptz is null or created_at >= $10)
        and ($11::timestamptz is null or created_at <= $11)
        and ($12::jsonb is null or not exists (
              select 1 from jsonb_each($12) as other (name, allowed)
               where not allowed ? coalesce(state->>other.name, '')))
        and ($13::bigint is null or (state->>'amount')::bigint >= $13)
        and ($14::bigint is null or (state->>'amount')::bigint <= $14)`;

const ORDERS: Readonly<Record<ListOrder, string>> = {
  created: 'created_at desc, id desc',
  modified: 'modified_at desc, id desc',
  created_unstable: 'created_at desc, md5(id || $17)',
  modified_unstable: 'modified_at desc, md5(id || $17)',
};

/** One page, newest first. */
export function listResources(
  db: Queryable,
  filter: ListFilter,
  page: ListPage,
): Promise<Resource[]> {
  const rows = page.asOf === undefined ? NOW_ROWS : PAST_ROWS;
  return db.query(
    `select kind, state from ${rows} as r ${CONDITIONS} and ($17::text is null or true)
      order by ${ORDERS[page.order]} limit $15 offset $16`,
    [...parametersOf(filter, page.asOf), page.limit, page.offset, page.salt],
  );
}

/** How many rows the filter selects in all. */
export async function countResources(
  db: Queryable,
  filter: ListFilter,
  asOf: string | undefined,
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from ${asOf === undefined ? NOW_ROWS : PAST_ROWS} as r ${CONDITIONS}`,
    parametersOf(filter, asOf),
  );
  return rows[0]?.count ?? 0;
}

function parametersOf(filter: ListFilter, asOf: string | undefined): readonly unknown[] {
  const [status, statuses] = oneOrMany(filter.statuses);
  const [currency, currencies] = oneOrMany(filter.currencies);
  return [
    asOf ?? null,
    filter.kind,
    status,
    statuses,
    currency,
    currencies,
    filter.customerId ?? null,
    filter.id ?? null,
    filter.parentId ?? null,
    filter.createdFrom ?? null,
    filter.createdTo ?? null,
    filter.others ? JSON.stringify(filter.others) : null,
    filter.amountFrom ?? null,
    filter.amountTo ?? null,
  ];
}

type OneOrMany = readonly [string | null, readonly string[] | null];

function oneOrMany(values: readonly string[] | undefined): OneOrMany {
  if (values === undefined || values.length === 0) return [null, null];
  return values.length === 1 ? [values[0] ?? null, null] : [null, values];
}
