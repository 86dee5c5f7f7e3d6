/**
 * Customers of a shop with personal data in their events, and a search for it that shares no code with
 * the program: each customer has a surname and a phone number that nobody else has, and the search looks
 * at every word of every column.
 */
import type { Database } from '../../src/platform/db/database.ts';
import { eventBody } from './events.ts';
import type { Random } from './random.ts';

const FIRST_NAMES = ['Ann', 'Zoë', 'Björn', 'María', 'Chidi', 'Yuki', 'Omar', 'Ines'];
const CITIES = ['New York', 'Berlin', 'São Paulo', 'Oslo'];
const SYLLABLES = ['ba', 'ke', 'li', 'mo', 'nu', 'ra', 'se', 'ti', 'vo', 'zu'];

export interface TestPerson {
  readonly customerId: string;
  readonly fullName: string;
  readonly email: string;
  readonly phone: string;
  /** Words that nobody else has, in lower case. */
  readonly words: readonly string[];
  readonly paymentIds: readonly string[];
  readonly orderIds: readonly string[];
}

export interface TestShop {
  readonly people: readonly TestPerson[];
  readonly bodies: readonly Buffer[];
}

/** Each number has a surname of its own. */
function surnameOf(number: number): string {
  const digits = String(number).padStart(6, '0');
  const name = [...digits].map((digit) => SYLLABLES[Number(digit)] ?? '').join('');
  return `W${name}`;
}

/** @param ordersEach how many orders each customer has */
export function createPeople(
  count: number,
  random: Random,
  { ordersEach = 2, run = '' }: { readonly ordersEach?: number; readonly run?: string } = {},
): TestShop {
  const pick = (items: readonly string[]) => items[Math.floor(random() * items.length)] ?? '';
  const bodies: Buffer[] = [];
  const people = Array.from({ length: count }, (_, number): TestPerson => {
    const surname = surnameOf(number);
    const first = pick(FIRST_NAMES);
    const phone = `555${String(number).padStart(7, '0')}`;
    const orders = Array.from({ length: ordersEach }, (_order, index) => `${number}x${index}`);
    const person = {
      customerId: `cus_${run}${number}`,
      fullName: `${first} ${surname}`,
      email: `${surname.toLowerCase()}@example.org`,
      phone,
      words: [surname.toLowerCase(), phone],
      paymentIds: orders.map((order) => `pay_${run}${order}`),
      orderIds: orders.map((order) => `ord_${run}${order}`),
    };
    for (const index of orders.keys()) {
      bodies.push(...orderEvents(person, { index, random, city: pick(CITIES), first, surname }));
    }
    return person;
  });
  return { people, bodies };
}

interface OrderInput {
  readonly index: number;
  readonly random: Random;
  readonly city: string;
  readonly first: string;
  readonly surname: string;
}

function orderEvents(
  person: Omit<TestPerson, 'paymentIds' | 'orderIds'> & Pick<TestPerson, 'paymentIds' | 'orderIds'>,
  { index, random, city, first, surname }: OrderInput,
): readonly Buffer[] {
  const amount = 100 + Math.floor(random() * 100_000);
  const isFailed = random() < 0.15;
  const paymentId = person.paymentIds[index] ?? '';
  const payment = {
    payment_id: paymentId,
    status: isFailed ? 'failed' : 'succeeded',
    amount,
    amount_received: isFailed ? 0 : amount,
    amount_capturable: 0,
    currency: 'USD',
    capture_method: 'automatic',
    customer_id: person.customerId,
    customer: {
      id: person.customerId,
      name: person.fullName,
      email: person.email,
      phone: person.phone,
    },
    email: person.email,
    client_secret: `${paymentId}_secret_${surname}`,
    description: `A parcel for ${person.fullName}`,
    metadata: { order_id: person.orderIds[index], note: `${first} ${surname} is at home at noon` },
    payment_method: 'card',
    payment_method_data: {
      card: { last4: '4242', brand: 'Visa', card_holder_name: person.fullName },
    },
    billing: {
      address: {
        line1: `${index + 1} ${surname} Road`,
        city,
        zip: '10001',
        country: 'US',
        first_name: first,
        last_name: surname,
      },
      phone: { number: person.phone, country_code: '+1' },
    },
    ...(isFailed && {
      unified_code: 'UE_1000',
      unified_message: 'Card declined',
      error_code: 'R01',
      error_message: `the bank of ${person.fullName} declined`,
    }),
    created: '2026-11-01T09:59:00.000Z',
    modified_at: '2026-11-01T10:00:00.000Z',
  };
  const events = [
    eventBody(payment, { eventType: isFailed ? 'payment_failed' : 'payment_succeeded' }),
  ];
  if (isFailed) return events;
  // The same content under another event id adds no snapshot that names the event.
  if (random() < 0.5) events.push(eventBody(payment, { eventType: 'payment_captured' }));
  if (random() < 0.4) events.push(refundOf(person, paymentId, Math.ceil(amount / 2)));
  return events;
}

function refundOf({ fullName }: Pick<TestPerson, 'fullName'>, paymentId: string, amount: number) {
  const refund = {
    refund_id: `ref_${paymentId}`,
    payment_id: paymentId,
    amount,
    currency: 'USD',
    status: 'succeeded',
    reason: `${fullName} sent it back`,
    created: '2026-11-02T09:59:00.000Z',
    modified_at: '2026-11-02T10:00:00.000Z',
  };
  return eventBody(refund, { eventType: 'refund_succeeded', contentType: 'refund_details' });
}

/** Where words are, as `schema.table.column`, with how many rows have one of them. */
export type WordPlaces = ReadonlyMap<string, number>;

export async function findWords(db: Database, words: ReadonlySet<string>): Promise<WordPlaces> {
  const [found = new Map<string, number>()] = await findWordSets(db, [words]);
  return found;
}

interface WordTable {
  readonly name: string;
  readonly quoted: string;
  /** Those that can hold text, and how to read each. */
  readonly columns: readonly { readonly name: string; readonly value: string }[];
}

/**
 * Where the words of several sets are, in the order of the sets. Every table is read once, for any number
 * of sets and words.
 */
export async function findWordSets(
  db: Database,
  sets: readonly ReadonlySet<string>[],
): Promise<readonly WordPlaces[]> {
  const found = sets.map(() => new Map<string, number>());
  const setsOf = new Map<string, number>();
  for (const [place, words] of sets.entries()) {
    for (const word of words) setsOf.set(word, (setsOf.get(word) ?? 0) | (1 << place));
  }
  for (const table of await filledOf(db, await readWordTables(db))) {
    await readRows(db, table, (column, text) => {
      const hit = maskOf(text, setsOf);
      if (hit === 0) return;
      for (const [place, places] of found.entries()) {
        if ((hit & (1 << place)) !== 0) places.set(column, (places.get(column) ?? 0) + 1);
      }
    });
  }
  return found;
}

/** The sets with a word in a text, one bit each. */
function maskOf(text: string, setsOf: ReadonlyMap<string, number>): number {
  let mask = 0;
  for (const word of text.toLowerCase().match(/[a-z]+|\d+/g) ?? []) mask |= setsOf.get(word) ?? 0;
  return mask;
}

function readWordTables(db: Database): Promise<readonly WordTable[]> {
  return db.query<WordTable>(
    `select c.table_schema || '.' || c.table_name as name,
            format('%I.%I', c.table_schema, c.table_name) as quoted,
            json_agg(json_build_object(
              'name', c.column_name,
              'value', format(case c.data_type when 'bytea' then '%I' else '%I::text' end, c.column_name))
              order by c.ordinal_position) as columns
       from information_schema.columns c
       join information_schema.tables t
         on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
      where c.table_schema not in ('pg_catalog', 'information_schema')
        and c.data_type in ('text', 'character varying', 'character', 'json', 'jsonb', 'bytea', 'ARRAY',
                            'USER-DEFINED')
      group by c.table_schema, c.table_name
      order by c.table_schema, c.table_name`,
  );
}

/** Most tables of a test are empty, and need no cursor. */
async function filledOf(db: Database, tables: readonly WordTable[]): Promise<readonly WordTable[]> {
  const parts = tables.map(
    ({ quoted }, place) => `select ${place} as place where exists (select from only ${quoted})`,
  );
  const filled = await db.query<{ place: number }>(parts.join(' union all '));
  const places = new Set(filled.map(({ place }) => place));
  return tables.filter((_, place) => places.has(place));
}

const ROWS_AT_ONCE = 500;

type WordRow = Record<string, string | Buffer | null>;

/** Visits every value of a table, reading few rows at a time. */
function readRows(
  db: Pick<Database, 'transaction'>,
  { name, quoted, columns }: WordTable,
  visit: (column: string, text: string) => void,
): Promise<void> {
  const values = columns.map(({ value }, place) => `${value} as c${place}`).join(', ');
  const visitRow = (row: WordRow) => {
    for (const [place, column] of columns.entries()) {
      const value = row[`c${place}`] ?? null;
      if (value !== null) visit(`${name}.${column.name}`, String(value));
    }
  };
  return db.transaction(async (tx) => {
    await tx.query(`declare words no scroll cursor for select ${values} from only ${quoted}`);
    for (;;) {
      const rows = await tx.query<WordRow>(`fetch forward ${ROWS_AT_ONCE} from words`);
      for (const row of rows) visitRow(row);
      if (rows.length < ROWS_AT_ONCE) return;
    }
  });
}

/** Digests of everything of the ledger that erasure must not change. */
export async function digestLedger(db: Database): Promise<unknown> {
  const digest = async (query: string): Promise<unknown> => {
    const [row] = await db.query(
      `select count(*) as rows, md5(string_agg(md5(r::text), '' order by md5(r::text))) as digest
         from (${query}) r`,
    );
    return row;
  };
  return {
    balances: await digest('select * from order_balances'),
    transfers: await digest('select * from transfers'),
    totals: await digest('select * from order_totals'),
    resources: await digest(
      `select kind, id, payment_id, order_key, status, stage, currency, amount_minor, captured_minor,
              authorized_minor, epoch, head_hash, posted, open_findings
         from resources`,
    ),
    changes: await digest('select * from change_log'),
  };
}
