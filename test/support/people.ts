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
export async function findWords(
  db: Database,
  words: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const columns = await db.query<{ schema: string; table: string; column: string; type: string }>(
    `select c.table_schema as schema, c.table_name as table, c.column_name as column, c.data_type as type
       from information_schema.columns c
       join information_schema.tables t
         on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
      where c.table_schema not in ('pg_catalog', 'information_schema')
        and c.data_type in ('text', 'character varying', 'character', 'json', 'jsonb', 'bytea', 'ARRAY',
                            'USER-DEFINED')`,
  );
  const found = new Map<string, number>();
  for (const { schema, table, column, type } of columns) {
    const value = type === 'bytea' ? `"${column}"` : `"${column}"::text`;
    const hits = await countRows(
      db,
      `select ${value} as value from only "${schema}"."${table}" where "${column}" is not null`,
      (text) => (text.toLowerCase().match(/[a-z]+|\d+/g) ?? []).some((word) => words.has(word)),
    );
    if (hits > 0) found.set(`${schema}.${table}.${column}`, hits);
  }
  return found;
}

/** Counts rows by their column `value`, reading few at a time. */
function countRows(
  db: Pick<Database, 'transaction'>,
  query: string,
  counts: (text: string) => boolean,
): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(`declare words no scroll cursor for ${query}`);
    let count = 0;
    for (;;) {
      const rows = await tx.query<{ value: string | Buffer }>('fetch forward 1000 from words');
      if (rows.length === 0) return count;
      count += rows.filter(({ value }) => counts(String(value))).length;
    }
  });
}
