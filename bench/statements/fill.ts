/**
 * Two years of a merchant's journal: payments, refunds, disputes and payouts in three currencies, with a report
 * line and its fee for nearly every payment, and a settlement of each day that arrives at the bank. Rows are
 * made by SQL, since the events of millions of payments would take a day to apply.
 */

import { QUARTER } from '../../src/ledger/store/transferSums.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { closePeriod } from '../../src/statements/closePeriod.ts';
import type { Cleanup } from '../cleanup.ts';
import { makeDatabase, onFastServer, withDatabase } from '../fastServer.ts';
import { rebuildIndexes, suspendIndexes } from '../growth/indexes.ts';

const MONTHS = 24;
/** What a hundred payments post: see TRANSFERS. */
const TRANSFERS_PER_HUNDRED = 270;
const FILLED_TABLES = ['transfers', 'resources', 'settlement_lines', 'settlement_matches'] as const;

/** The months of the journal, the oldest first: those before the one that is under way. */
export function filledMonths(nowMs: number): readonly string[] {
  const now = new Date(nowMs);
  return Array.from({ length: MONTHS }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + n, 1))
      .toISOString()
      .slice(0, 7),
  );
}

export interface FillPlan {
  readonly dataDir: string;
  readonly database: string;
  readonly transfers: number;
  readonly months: readonly string[];
  /** The one that is closed. */
  readonly closed: string;
}

export function fill(plan: FillPlan, cleanup: Cleanup): Promise<void> {
  return onFastServer(plan.dataDir, cleanup, async (server) => {
    const url = await makeDatabase(server, plan.database);
    await withDatabase(url, (db) => fillJournal(db, plan));
  });
}

async function fillJournal(db: Database, { transfers, months, closed }: FillPlan): Promise<void> {
  const payments = Math.ceil((transfers / TRANSFERS_PER_HUNDRED / months.length) * 100);
  await db.query(WITHOUT_TRIGGERS);
  await suspendIndexes(db, FILLED_TABLES);
  for (const [place, month] of months.entries()) {
    const [first, last] = [place * payments + 1, (place + 1) * payments];
    for (const statement of MONTH_STATEMENTS) await db.query(statement, [first, last, month]);
    if (process.stderr.isTTY) process.stderr.write(`\r  filled ${month} `);
  }
  await db.query(WITH_TRIGGERS);
  await rebuildIndexes(db, FILLED_TABLES);
  await db.query('vacuum analyze');
  for (const statement of SUM_STATEMENTS) await db.query(statement);
  await db.transaction((tx) => close(tx, closed));
  await db.query(WITHOUT_TRIGGERS);
  await db.query(LATE_TRANSFERS, [closed]);
  await db.query('vacuum analyze');
}

/** Only payments have a row in `resources`, so a trigger would refuse the transfers of the others. */
const WITHOUT_TRIGGERS = 'set session_replication_role = replica';
const WITH_TRIGGERS = 'set session_replication_role = origin';

async function close(tx: Queryable, month: string): Promise<void> {
  const closing = { month, timeZone: 'UTC', by: 'bench', reason: undefined, withExceptions: true };
  const { outcome } = await closePeriod(tx, closing);
  if (outcome !== 'closed') throw new Error(`${month} was not closed: ${outcome}`);
}

/** A number of a payment as SQL: when it was captured, and its currency. */
const FIRST = `($3 || '-01')::timestamp`;
const MOVED = `(${FIRST} + (n - $1) * (${FIRST} + interval '1 month' - ${FIRST}) / ($2 - $1 + 1)::float8)
  at time zone 'UTC'`;
const CURRENCY = `(array['USD', 'EUR', 'JPY'])[n % 3 + 1]`;
const AMOUNT = '1000 + n % 9000';
const FEE = `round((${AMOUNT}) * 0.02)::bigint`;
const NUMBER = `lpad(n::text, 9, '0')`;
/** Each day and currency is one settlement, which has a number of its own in every month. */
const DAY = `(at at time zone 'UTC')::date`;
const SETTLEMENT = `((${DAY} - date '2000-01-01') * 3 + n % 3)`;
const IS_REPORTED = 'n % 50 <> 7';

const PAYMENTS = `
  select n, ${MOVED} as at, ${CURRENCY} as currency, ${AMOUNT} as minor
    from generate_series($1::bigint, $2::bigint) n`;

/** kind, the start of an id, leg, its accounts, the payments that have it, and hours after the capture. */
const TRANSFERS = `
  ('payment', 'pay_', 'captured', 'psp.clearing', 'order.due', 1, 0),
  ('payment', 'pay_', 'auth_opened', 'memo.auth_open', 'memo.auth_contra', 5, 0),
  ('payment', 'pay_', 'auth_consumed', 'memo.auth_contra', 'memo.auth_open', 5, 0),
  ('refund', 'ref_', 'requested', 'order.refunds', 'refund.in_flight', 10, 20),
  ('refund', 'ref_', 'settled', 'refund.in_flight', 'psp.clearing', 10, 70),
  ('dispute', 'dp_', 'held', 'dispute.held', 'psp.clearing', 100, 300),
  ('dispute', 'dp_', 'written_off', 'loss.disputes', 'dispute.held', 100, 900),
  ('payout', 'po_', 'initiated', 'payout.in_transit', 'psp.clearing', 20, 1),
  ('payout', 'po_', 'delivered', 'payout.paid', 'payout.in_transit', 20, 30)`;

const INSERT_TRANSFERS = `
  insert into transfers (kind, resource_id, leg, currency, leg_seq, debit, credit, amount_minor, previous_minor,
                         cumulative_minor, head_hash, recorded_at, effective_at, effective_source)`;

const MONTH_STATEMENTS = [
  `insert into resources (kind, id) select 'payment', 'pay_' || ${NUMBER} from generate_series($1::bigint, $2::bigint) n
     where $3::text is not null`,
  `insert into settlement_files (source, format, name, digest, lines, new_lines, imported_by)
   select 'service', 'csv', 'report-' || $3, sha256(convert_to($3, 'UTF8')), $2::bigint - $1::bigint + 1,
          $2::bigint - $1::bigint + 1, 'bench'`,
  `insert into settlements (id, source, reference, currency) overriding system value
   select distinct ${SETTLEMENT}, 'service', 'ST-' || ${SETTLEMENT}, currency from (${PAYMENTS}) p`,
  `insert into settlement_lines (id, file_id, file_line, source, kind, type, settlement_id, reference, day, currency,
                                 gross_minor, fee_minor, digest, occurrence) overriding system value
   select n, (select max(id) from settlement_files), n - $1 + 1, 'service', 'settlement_line', 'payment',
          ${SETTLEMENT}, 'pay_' || ${NUMBER}, ${DAY}, currency, minor, ${FEE},
          sha256(convert_to('line' || n, 'UTF8')), 1
     from (${PAYMENTS}) p where ${IS_REPORTED}`,
  `insert into settlement_matches (line_id, target_kind, target_id, rule, reason)
   select n, 'payment', 'pay_' || ${NUMBER}, 'id', 'the line names pay_' || ${NUMBER}
     from (${PAYMENTS}) p where ${IS_REPORTED}`,
  // Nine of ten settlements arrive on the next day.
  `with arrived as (
     select 1000000000 + ${SETTLEMENT} as id, ${SETTLEMENT} as settlement, min(${DAY}) + 1 as day, currency,
            sum(minor - ${FEE})::bigint as minor
       from (${PAYMENTS}) p where ${IS_REPORTED} and ${SETTLEMENT} % 10 <> 3
      group by 2, currency),
   matched as (
     insert into settlement_matches (line_id, target_kind, target_id, rule, reason)
     select id, 'settlement', settlement::text, 'reference', 'the text of the line has its reference' from arrived)
   insert into settlement_lines (id, file_id, file_line, source, kind, type, day, currency, gross_minor, fee_minor,
                                 text, digest, occurrence) overriding system value
   select id, (select max(id) from settlement_files), settlement, 'bank', 'bank_line', 'bank', day, currency, minor,
          0, 'ST-' || settlement, sha256(convert_to('bank' || id, 'UTF8')), 1
     from arrived`,
  `${INSERT_TRANSFERS}
   select kind, id, leg, currency, 1, debit, credit, minor, 0, minor, sha256(convert_to(id, 'UTF8')),
          least(at + case when n % 100 = 0 then interval '5 days' else interval '2 seconds' end,
                statement_timestamp() - interval '2 hours'), at, source
     from (
       select n, kind, start || ${NUMBER} as id, leg, currency, debit, credit, minor / least(share, 2) as minor,
              at + hours * interval '1 hour' as at, 'v'::"char" as source
         from (${PAYMENTS}) p
        cross join (values ${TRANSFERS}) as t (kind, start, leg, debit, credit, share, hours)
        where n % share = 0
       union all
       select n, 'settlement_line', n::text, 'fee_charged', currency, 'fees.service', 'psp.clearing', ${FEE},
              date_trunc('day', at, 'UTC') + interval '12 hours', 's'
         from (${PAYMENTS}) p where ${IS_REPORTED}
       union all
       select id, 'bank_line', id::text, 'bank_received', currency, 'bank.account', 'psp.clearing', gross_minor,
              (day + time '12:00') at time zone 'UTC', 's'
         from settlement_lines
        where type = 'bank' and file_id = (select max(id) from settlement_files)) moved
    order by 12, 1`,
];

/** The sums as the schedule stores them (ledger/sumTransfers.ts): here each movement is one transfer. */
const SUM_STATEMENTS = [
  `insert into transfer_sums (quarter, currency, leg, recorded_from, ups, downs, up_minor, down_minor,
                              posted_up_minor, posted_down_minor)
   select ${QUARTER('effective_at')}, currency, leg, recorded_part(recorded_at), count(*), 0,
          sum(amount_minor), 0, sum(amount_minor), 0
     from transfers group by 1, 2, 3, 4`,
  `insert into transfer_day_sums (day, currency, leg, posted_up_minor, posted_down_minor)
   select date_trunc('day', quarter, 'UTC'), currency, leg, sum(posted_up_minor), 0
     from transfer_sums group by 1, 2, 3`,
  `insert into open_spans (item, currency, resource_id, span, since, open_minor)
   select item, began.currency, began.resource_id,
          tstzrange(began.effective_at, coalesce(ended.effective_at, 'infinity'), '(]'), began.effective_at,
          began.amount_minor
     from (values ('hold', 'auth_opened', 'auth_consumed'), ('refund', 'requested', 'settled'),
                  ('dispute', 'held', 'written_off'), ('payout', 'initiated', 'delivered'))
          as i (item, plus, minus)
     join transfers began on began.leg = plus
     left join transfers ended
       on ended.leg = minus and ended.kind = began.kind and ended.resource_id = began.resource_id
    where ended.effective_at is null or ended.effective_at > began.effective_at`,
  `update transfer_sums_state
      set summed_to = ${QUARTER("now() - interval '1 hour'")}, last_id = (select max(id) from transfers)`,
];

/** Postings that arrive after their month was closed. */
const LATE_TRANSFERS = `
  ${INSERT_TRANSFERS}
  select 'refund', 'ref_' || ${NUMBER}, leg, 'USD', 1, debit, credit, 500, 0, 500,
         sha256(convert_to('late' || n, 'UTF8')), statement_timestamp(),
         ($1 || '-10')::timestamp at time zone 'UTC' + n * interval '1 minute', 'v'
    from generate_series(900000001, 900001000) n
   cross join (values ('requested', 'order.refunds', 'refund.in_flight'),
                      ('settled', 'refund.in_flight', 'psp.clearing')) as t (leg, debit, credit)`;
