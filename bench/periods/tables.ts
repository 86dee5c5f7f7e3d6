/** The two layouts, each in a schema of its own, with a year of rows. */
import type { Queryable } from '../../src/platform/db/database.ts';

export const LAYOUTS = ['one_table', 'months'] as const;
export type Layout = (typeof LAYOUTS)[number];

export const START_MS = Date.UTC(2025, 0, 1);
const MONTHS = 13;

/** As scattered as the ids of the service. */
export function idOf(number: number): string {
  const scattered = (Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
  return `pay_${scattered}0123456789`;
}

export function contentOf(number: number, state: string): string {
  return JSON.stringify({
    paymentId: idOf(number),
    orderId: `order_${number}`,
    status: state,
    amount: 500,
    currency: 'USD',
    captureMethod: 'automatic',
    createdMicros: START_MS * 1_000,
    profile: 'pro_7Kq2mVx9TzLw4RbN',
  });
}

const SQL_ID = `'pay_' || lpad(to_hex((n * 2654435761) & 4294967295), 8, '0') || '0123456789'`;
const SQL_TIME = `timestamptz '2025-01-01 00:00Z' + n * interval '365 days' / $1::float8`;

/** Makes the tables of a layout in its schema, which is the first of the connection's path. */
export async function createTables(
  db: Queryable,
  layout: Layout,
  resources: number,
): Promise<void> {
  await db.query(`create schema ${layout}`);
  const partition = layout === 'months' ? 'partition by range (recorded_at)' : '';
  // A unique key over partitions has to contain what they are divided by.
  const time = layout === 'months' ? ', recorded_at' : '';
  await db.query(
    `create table ${layout}.transfers (
       like public.transfers including defaults including constraints including identity,
       primary key (id${time}), unique (kind, resource_id, leg, currency, leg_seq${time})
     ) ${partition}`,
  );
  await db.query(
    `create table ${layout}.snapshots (
       like public.snapshots including defaults including constraints,
       primary key (kind, resource_id, epoch, content_hash${time})
     ) ${partition}`,
  );
  if (layout === 'months') await createMonths(db);
  else {
    await db.query(
      `create index on one_table.transfers using brin (recorded_at) with (autosummarize = on)`,
    );
  }
  await insertRows(db, layout, resources);
  await db.query(
    `create trigger transfers_chain after insert on ${layout}.transfers
       referencing new table as inserted for each statement execute function check_transfers()`,
  );
  await db.query('vacuum analyze');
}

/** The year of the rows, and the months up to now and ahead, as an installation would have them. */
async function createMonths(db: Queryable): Promise<void> {
  for (const table of ['transfers', 'snapshots']) {
    for (let month = 0; month < MONTHS; month += 1) {
      const from = new Date(Date.UTC(2025, month, 1)).toISOString();
      const to =
        month === MONTHS - 1
          ? 'maxvalue'
          : `'${new Date(Date.UTC(2025, month + 1, 1)).toISOString()}'`;
      await db.query(
        `create table months.${table}_${month} partition of months.${table}
           for values from ('${from}') to (${to})`,
      );
    }
  }
}

async function insertRows(db: Queryable, layout: Layout, resources: number): Promise<void> {
  if (layout === 'one_table') {
    // New resources of the transactions too: a leg begins only at a resource that exists.
    await db.query(
      `insert into public.resources (kind, id) select 'payment', ${SQL_ID} from generate_series(1, $1) n`,
      [resources + 100_000],
    );
  }
  await db.query(
    `insert into ${layout}.snapshots (kind, resource_id, epoch, content_hash, content, source,
                                      observed_micros, recorded_at)
     select 'payment', ${SQL_ID}, 0, sha256(convert_to(state || n, 'UTF8')),
            json_build_object('paymentId', ${SQL_ID}, 'orderId', 'order_' || n, 'status', state,
              'amount', 500, 'currency', 'USD', 'captureMethod', 'automatic',
              'createdMicros', 1735689600000000, 'profile', 'pro_7Kq2mVx9TzLw4RbN'),
            'webhook', 1735689600000000, ${SQL_TIME}
       from generate_series(1, $1::bigint) n, unnest(array['processing', 'succeeded']) state`,
    [resources],
  );
  await db.query(
    `insert into ${layout}.transfers (kind, resource_id, leg, currency, leg_seq, debit, credit,
                                      amount_minor, previous_minor, cumulative_minor, head_hash,
                                      recorded_at, effective_at, effective_source)
     select 'payment', ${SQL_ID}, leg, 'USD', 1, debit, credit, 500, 0, 500,
            sha256(convert_to('succeeded' || n, 'UTF8')), ${SQL_TIME}, ${SQL_TIME}, 'v'
       from generate_series(1, $1::bigint) n,
            (values ('captured', 'psp.clearing', 'order.due'),
                    ('auth_opened', 'memo.auth_open', 'memo.auth_contra')) as l (leg, debit, credit)
      where leg = 'captured' or n % 5 = 0`,
    [resources],
  );
}
