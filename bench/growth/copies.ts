/**
 * Copies a template's rows in every table. A copy has ids of its own, numbers that continue those
 * before it, and times of its own; everything else is the template's, so each copy is as consistent
 * as the template. Columns are read from the catalog: a table with another column needs no change here.
 */
import type { Queryable } from '../../src/platform/db/database.ts';

/** The tables of the copies, in the order of their dependencies. */
export const FILLED_TABLES = [
  'webhook_events',
  'snapshots',
  'resources',
  'orders',
  'order_totals',
  'transfers',
  'changes',
  'messages',
  'order_webhook_totals',
] as const;

/** Numbers of each copy continue those of the copy before it. */
const COUNTED: Readonly<Record<string, string>> = {
  'webhook_events.id': 'webhook_events',
  'snapshots.webhook_event_id': 'webhook_events',
  'transfers.webhook_event_id': 'webhook_events',
  'transfers.id': 'transfers',
  'changes.number': 'changes',
  'changes.webhook_event_id': 'webhook_events',
  'messages.number': 'messages',
  'order_webhook_totals.change_number': 'changes',
};
const KEYS: Readonly<Record<string, string>> = {
  webhook_events: 'id',
  transfers: 'id',
  changes: 'number',
  messages: 'number',
};

/** As many bodies as Tallyhook packs together. */
const PACK_BODIES = 128;

/** The day of all bodies of a copy; $3 is its age in days. */
const COPY_DAY = `((now() - $3 * interval '1 day') at time zone 'UTC')::date`;

/** Times of the service, which the content of snapshots repeats. */
const SERVICE_TIMES = new Set([
  'resources.created_at',
  'resources.deadline_at',
  'resources.term_since',
  'resources.next_check_at',
]);

export interface Copier {
  readonly eventsPerCopy: number;
  /** How many copies there are. */
  readonly copies: number;
  /** Makes the next copy, received before now by `ageDays`. */
  copyNext(ageDays: number): Promise<void>;
}

/** Tables of which a copy that is older has no rows, by their days; others are kept. */
export type RetainedDays = Readonly<
  Partial<Record<(typeof FILLED_TABLES)[number] | 'packed_bodies', number | undefined>>
>;

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

/** Whether the database has a template to copy. */
export async function hasTemplate(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }>(
    `select to_regclass('template.state') is not null as has`,
  );
  return row?.has ?? false;
}

/**
 * Moves the template's rows aside, so that copies do not read what they write.
 * @param run the part of the template's ids that a copy replaces
 */
export async function moveTemplateAside(db: Queryable, run: string): Promise<void> {
  await db.query('create schema template');
  for (const table of FILLED_TABLES) {
    await db.query(`create table template.${table} as select * from public.${table}`);
  }
  await db.query('alter table template.webhook_events add column body_text text');
  await db.query(
    `update template.webhook_events e
        set body_text = convert_from(coalesce(
              e.body, (select b.body from public.webhook_bodies b
                        where b.day = e.body_day and b.webhook_event_id = e.id)), 'UTF8')`,
  );
  // The content behind each hash, once, so that a copy can hash its own.
  for (const table of ['resources', 'transfers']) {
    const id = table === 'resources' ? 'id' : 'resource_id';
    await db.query(`alter table template.${table} add column head_content text`);
    await db.query(
      `update template.${table} t set head_content = s.content::text from template.snapshots s
        where s.kind = t.kind and s.resource_id = t.${id} and s.content_hash = t.head_hash`,
    );
  }
  // Copies begin with the oldest events; the rows of the template are the newest.
  await db.query(`truncate ${FILLED_TABLES.join(', ')}, webhook_bodies cascade`);
  await db.query('analyze');
  await db.query(`create table template.state as select $1::text as run, 0 as copies`, [run]);
}

export async function createCopier(db: Queryable, retained: RetainedDays): Promise<Copier> {
  const [state] = await db.query<{ run: string; copies: number }>(
    'select run, copies from template.state',
  );
  if (!state) throw new Error('the template has no state');
  const { run } = state;
  const columns = await readColumns(db);
  const counts = await readCounts(db);
  const statements = new Map<(typeof FILLED_TABLES)[number], string>();
  for (const table of FILLED_TABLES) {
    statements.set(table, await statementOf(db, { run, table, columns, counts }));
  }
  const events = counts.get('webhook_events') ?? 0;
  const bodies = bodiesStatement(run, events);
  let { copies } = state;
  // Behind the numbers of what a load wrote since the last copy.
  let place = Math.max(copies, await readPlacesTaken(db, counts));
  return {
    eventsPerCopy: events,
    get copies() {
      return copies;
    },
    copyNext: async (ageDays) => {
      const own = place.toString(16).padStart(run.length, '0');
      await db.query('begin');
      const keeps = (table: keyof RetainedDays) =>
        ageDays < (retained[table] ?? Number.POSITIVE_INFINITY);
      for (const [table, statement] of statements) {
        if (keeps(table)) await db.query(statement, [place, own, ageDays]);
      }
      if (keeps('packed_bodies')) {
        const day = await ensurePacks(db, ageDays);
        await db.query(bodies, [place, own, day]);
        await db.query(
          `update body_days set events = coalesce(events, 0) + $2 where day = $1::date and state = 'packed'`,
          [day, events],
        );
      } else {
        await ensureRemoved(db, ageDays);
      }
      copies += 1;
      place += 1;
      await db.query('update template.state set copies = $1', [copies]);
      await db.query('commit');
    },
  };
}

/** The day of a copy, as the date of its last event, with a partition for its packs. */
async function ensurePacks(db: Queryable, ageDays: number): Promise<string> {
  const [row] = await db.query<{ day: string; isOver: boolean }>(
    `select ${COPY_DAY}::text as day, ${COPY_DAY} < (now() at time zone 'UTC')::date as "isOver"
       from (select $1::float8 as age) a`.replaceAll('$3', 'a.age'),
    [ageDays],
  );
  if (!row) throw new Error('a query that always has one row returned none');
  if (row.isOver) {
    await db.query(
      `create table if not exists packed_bodies_${row.day.replaceAll('-', '')}
         partition of packed_bodies for values from ('${row.day}') to (date '${row.day}' + 1)`,
    );
    await db.query(
      `insert into body_days (day, state, packed_at) values ($1, 'packed', now())
       on conflict (day) do nothing`,
      [row.day],
    );
  }
  return row.day;
}

/** Marks the day of a copy as one of which retention has removed the bodies. */
async function ensureRemoved(db: Queryable, ageDays: number): Promise<void> {
  await db.query(
    `insert into body_days (day, state, removed_at)
     select ${COPY_DAY}, 'removed', now() from (select $1::float8 as age) a
     on conflict (day) do nothing`.replaceAll('$3', 'a.age'),
    [ageDays],
  );
}

/** Bodies as Tallyhook has them: of days that are over in packs of 128, of today one by one. */
function bodiesStatement(run: string, events: number): string {
  return `with body as (
      select t.id + $1 * ${events} as id, convert_to(replace(t.body_text, '${run}', $2), 'UTF8') as body,
             (row_number() over (order by t.id) - 1) / ${PACK_BODIES} as pack,
             $3::date < (now() at time zone 'UTC')::date as "isOver"
        from template.webhook_events t
    ), open as (
      insert into webhook_bodies (day, webhook_event_id, body)
      select $3::date, id, body from body where not "isOver" order by id
    )
    insert into packed_bodies (day, first_event_id, last_event_id, event_ids, lengths, bodies)
    select $3::date, min(id), max(id), array_agg(id order by id),
           array_agg(octet_length(body) order by id), string_agg(body, ''::bytea order by id)
      from body
     where "isOver"
     group by pack`;
}

function readColumns(db: Queryable): Promise<readonly Column[]> {
  return db.query<Column>(
    `select table_name as "table", column_name as name, udt_name as type
       from information_schema.columns
      where table_schema = 'public' and is_generated = 'NEVER' and table_name = any ($1::text[])
      order by table_name, ordinal_position`,
    [FILLED_TABLES],
  );
}

/** How far the numbers of each table have come in the template. */
async function readCounts(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const [table, key] of Object.entries(KEYS)) {
    const [row] = await db.query<{ last: number }>(
      `select coalesce(max(${key}), 0) as last from template.${table}`,
    );
    counts.set(table, row?.last ?? 0);
  }
  return counts;
}

/** How many copies would have used the numbers that are taken. */
async function readPlacesTaken(
  db: Queryable,
  counts: ReadonlyMap<string, number>,
): Promise<number> {
  let taken = 0;
  for (const [table, key] of Object.entries(KEYS)) {
    const [row] = await db.query<{ last: number }>(
      `select coalesce(max(${key}), 0) as last from ${table}`,
    );
    taken = Math.max(taken, Math.ceil((row?.last ?? 0) / Math.max(1, counts.get(table) ?? 0)));
  }
  return taken;
}

interface Statement {
  readonly run: string;
  readonly table: string;
  readonly columns: readonly Column[];
  readonly counts: ReadonlyMap<string, number>;
}

async function statementOf(
  db: Queryable,
  { run, table, columns, counts }: Statement,
): Promise<string> {
  const own = columns.filter((column) => column.table === table);
  const values: string[] = [];
  for (const column of own) values.push(await valueFor(db, column, { run, counts }));
  const key = KEYS[table];
  return `insert into ${table} (${own.map(({ name }) => name).join(', ')})
          overriding system value
          select ${values.join(', ')}
            from template.${table} t
           where $1::bigint is not null and $2::text is not null and $3::float8 is not null
           ${key === undefined ? '' : `order by t.${key}`}`;
}

/** The value of a column in a copy: $1 is its place, $2 its part of every id, $3 its age in days. */
async function valueFor(
  db: Queryable,
  { table, name, type }: Column,
  { run, counts }: Pick<Statement, 'run' | 'counts'>,
): Promise<string> {
  const column = `t.${name}`;
  const counted = COUNTED[`${table}.${name}`];
  if (counted !== undefined) return `${column} + $1 * ${counts.get(counted) ?? 0}`;
  const replaced = (text: string) => `replace(${text}, '${run}', $2)`;
  const hashed = (text: string) => `sha256(convert_to(${replaced(text)}, 'UTF8'))`;
  switch (`${table}.${name}`) {
    case 'webhook_events.body':
      return 'null';
    case 'webhook_events.body_day':
      return COPY_DAY;
    case 'webhook_events.body_bytes':
      return `octet_length(${replaced('t.body_text')})`;
    case 'webhook_events.body_sha256':
      return hashed('t.body_text');
    case 'snapshots.content_hash':
      return hashed('t.content::text');
    case 'resources.head_hash':
    case 'transfers.head_hash':
      return hashed('t.head_content');
    default:
  }
  if (type === 'timestamptz' && !SERVICE_TIMES.has(`${table}.${name}`)) {
    return `${column} - $3 * interval '1 day'`;
  }
  const [row] = await db.query<{ has: boolean | null }>(
    `select bool_or(${name}::text like '%${run}%') as has from template.${table}`,
  );
  return row?.has ? `${replaced(`${column}::text`)}::${type}` : column;
}
