/**
 * Finds and erases copies of personal data in every table of the database.
 *
 * 1. Every text, JSON and byte column of every schema is searched, those of the queues and of the sandbox
 *    as well. docs/guides/erasure.md
 * 2. A common value counts only in a row with an id of the person; see domain/personalValues.ts.
 * 3. Documents beside an id of the person in other schemas, such as a customer in the sandbox, have values
 *    that no event carries. They are learned, and searched for in a further pass.
 * 4. Tables of the ledger are searched, and not changed here: their texts change with their hashes
 *    (ledger/eraseResources.ts), and its ids stay.
 */
import { setImmediate } from 'node:timers/promises';
import { redactEntry } from '../audit/store/audit.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import {
  createMatcher,
  ERASED,
  eraseInJson,
  eraseValues,
  type Match,
  type Matcher,
} from './domain/matcher.ts';
import { type PersonalValue, personalValues } from './domain/personalValues.ts';
import type { Person } from './findPersonalData.ts';
import {
  readTextTables,
  replaceText,
  scanTable,
  type TextRow,
  type TextTable,
} from './store/scan.ts';

/** Tables of the schema `public` that are changed elsewhere, or hold ids only. */
const KEPT = new Set([
  'accounts',
  'chain_blocks',
  'change_log',
  'changes',
  'event_variants',
  'installation',
  'kept_bodies',
  'legs',
  'migrations',
  'order_expectations',
  'order_totals',
  'orders',
  'resource_epochs',
  'resources',
  'snapshots',
  'tokens',
  'transfers',
  'webhook_events',
]);

/** Tables with many bodies in a row, or one of a single event; partitions are tables once detached. */
const BODIES = /^(?:(?:webhook|packed)_bodies(?:_\d+)?|kept_bodies|event_variants|webhook_events)$/;

/** A place in which values were found. */
export interface FoundPlace {
  readonly table: string;
  readonly rows: number;
  /** Whether the table holds bodies, so that events can be named. */
  readonly hasBodies: boolean;
}

export interface CopiesResult {
  /** Rows in which values were replaced. */
  readonly replaced: number;
  /** What is left. */
  readonly places: readonly FoundPlace[];
  /** Tables that this role may not read. */
  readonly unreadable: readonly string[];
  /** Tables in which rows were changed. */
  readonly changed: readonly TextTable[];
  /** Values found beside ids of a person, by the place of the person. */
  readonly learned: ReadonlyMap<number, readonly PersonalValue[]>;
}

/** People by their places: those with the value as an id, and those who share it as a common value. */
interface Owners {
  readonly ids: Set<number>;
  readonly common: Set<number>;
  isDistinctive: boolean;
}

export type PersonMatcher = Matcher<Owners>;

/**
 * A city is the value of many people: with a match for each of them, a search for a thousand people
 * took longer by as much in every row that names it.
 * @param people each with ids and values
 */
export function matcherOf(people: readonly Pick<Person, 'ids' | 'values'>[]): PersonMatcher {
  const byValue = new Map<string, Owners>();
  const ownersOf = (value: string): Owners => {
    const known = byValue.get(value);
    if (known) return known;
    const owners = { ids: new Set<number>(), common: new Set<number>(), isDistinctive: false };
    byValue.set(value, owners);
    return owners;
  };
  for (const [person, { ids, values }] of people.entries()) {
    for (const id of ids) ownersOf(id).ids.add(person);
    for (const [value, isDistinctive] of values) {
      const owners = ownersOf(value);
      if (isDistinctive) owners.isDistinctive = true;
      else owners.common.add(person);
    }
  }
  return createMatcher([...byValue].map(([value, owner]) => ({ value, owner })));
}

/** Whether a body has a value that names a person wherever it is. */
export function namesPerson(matcher: PersonMatcher, body: string): boolean {
  return matcher.find(body).some(({ owner }) => owner.isDistinctive);
}

type Found = readonly Match<Owners>[];

function valuesOf(found: Found, isBodies: boolean): readonly string[] {
  const near = isBodies ? [] : [...peopleNamed(found)];
  return found.flatMap(({ value, owner: { isDistinctive, common } }) =>
    isDistinctive || near.some((person) => common.has(person)) ? [value] : [],
  );
}

function peopleNamed(found: Found): ReadonlySet<number> {
  return new Set(found.flatMap(({ owner: { ids } }) => [...ids]));
}

interface FoundRow {
  readonly table: TextTable;
  readonly row: TextRow;
  readonly found: Found;
}

/** Adds the values of a document about one person. */
function learn(learned: Map<number, PersonalValue[]>, { table, row, found }: FoundRow): void {
  const [person, another] = peopleNamed(found);
  if (person === undefined || another !== undefined) return;
  const values = table.columns.flatMap(({ type }, place) => {
    const text = row.texts[place] ?? null;
    return (type === 'json' || type === 'jsonb') && text !== null
      ? personalValues(JSON.parse(text))
      : [];
  });
  const isNew = ({ value }: PersonalValue) => !value.includes(ERASED);
  learned.set(person, [...(learned.get(person) ?? []), ...values.filter(isNew)]);
}

export interface CopiesParts {
  /** Reads, one transaction at a time. */
  readonly db: Pick<Database, 'transaction' | 'query'>;
  /** Replaces; undefined: only searches. Another connection than `db` uses. */
  readonly writer: Queryable | undefined;
  readonly onProgress?: (progress: { readonly bytes: number; readonly total: number }) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Text that is searched without a rest: other work of the process, such as renewals, goes on between. */
const CHARACTERS_AT_ONCE = 256 * 1024;

/** Searches every table, and replaces what it may. */
export async function searchCopies(
  { db, writer, onProgress = () => undefined, signal }: CopiesParts,
  matcher: PersonMatcher,
): Promise<CopiesResult> {
  const tables = await readTextTables(db);
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const places = new Map<string, FoundPlace>();
  const changed: TextTable[] = [];
  const learned = new Map<number, PersonalValue[]>();
  let [replaced, bytes] = [0, 0];
  for (const table of tables.filter(({ canRead }) => canRead)) {
    const hasBodies = table.schema === 'public' && BODIES.test(table.name);
    const rows = { left: 0, replaced: 0 };
    const rest = createRest();
    await scanTable(db, table, async (page) => {
      for (const row of page) {
        await rest(row, signal);
        const outcome = await searchRow({ table, row, matcher, writer, hasBodies, learned });
        if (outcome !== 'clean') rows[outcome] += 1;
      }
    });
    if (rows.left > 0) addPlace(places, table, { rows: rows.left, hasBodies });
    if (rows.replaced > 0) changed.push(table);
    replaced += rows.replaced;
    bytes += table.bytes;
    onProgress({ bytes, total });
  }
  return {
    replaced,
    places: [...places.values()],
    unreadable: tables.flatMap(({ canRead, quoted }) => (canRead ? [] : [quoted])),
    changed,
    learned,
  };
}

/** Counts the text of rows, and lets other work of the process run after enough of it. */
function createRest() {
  let characters = 0;
  return async ({ texts }: TextRow, signal: AbortSignal | undefined): Promise<void> => {
    for (const text of texts) characters += text?.length ?? 0;
    if (characters < CHARACTERS_AT_ONCE) return;
    characters = 0;
    signal?.throwIfAborted();
    await setImmediate();
  };
}

interface SearchedRow {
  readonly table: TextTable;
  readonly row: TextRow;
  readonly matcher: PersonMatcher;
  readonly writer: Queryable | undefined;
  readonly hasBodies: boolean;
  readonly learned: Map<number, PersonalValue[]>;
}

async function searchRow({
  table,
  row,
  matcher,
  writer,
  hasBodies,
  learned,
}: SearchedRow): Promise<'clean' | 'left' | 'replaced'> {
  const found = matcher.find(row.texts.join('\n'));
  if (found.length === 0) return 'clean';
  if (writer && table.schema !== 'public') learn(learned, { table, row, found });
  const values = valuesOf(found, hasBodies);
  if (values.length === 0) return 'clean';
  const isKept = hasBodies || (table.schema === 'public' && KEPT.has(table.name));
  if (writer === undefined || isKept) return 'left';
  return (await replaceRow(writer, table, { row, values })) ? 'replaced' : 'left';
}

function addPlace(
  places: Map<string, FoundPlace>,
  { schema, name }: TextTable,
  { rows, hasBodies }: Pick<FoundPlace, 'rows' | 'hasBodies'>,
): void {
  const table = schema === 'public' ? name : `${schema}.${name}`;
  places.set(table, { table, rows: rows + (places.get(table)?.rows ?? 0), hasBodies });
}

interface RowValues {
  readonly row: TextRow;
  readonly values: readonly string[];
}

/** @returns whether all of the values are replaced */
async function replaceRow(
  writer: Queryable,
  table: TextTable,
  { row, values }: RowValues,
): Promise<boolean> {
  const texts = row.texts.map((text, place) => erased(text, table.columns[place]?.type, values));
  if (table.schema === 'public' && table.name === 'audit') {
    const textOf = (name: string) =>
      texts[table.columns.findIndex((column) => column.name === name)] ?? null;
    await redactEntry(writer, {
      tid: row.tid,
      reason: textOf('reason'),
      detail: textOf('detail') ?? '{}',
    });
    return true;
  }
  let { tid } = row;
  let isComplete = true;
  for (const [place, column] of table.columns.entries()) {
    const [before, after] = [row.texts[place] ?? null, texts[place] ?? null];
    if (before === null || after === null || before === after) continue;
    const moved =
      column.canUpdate && column.type !== 'array'
        ? await replaceText(writer, table, { column, tid, before, after })
        : undefined;
    if (moved === undefined) isComplete = false;
    else tid = moved;
  }
  return isComplete;
}

function erased(
  text: string | null,
  type: TextTable['columns'][number]['type'] | undefined,
  values: readonly string[],
): string | null {
  if (text === null) return null;
  if (type !== 'json' && type !== 'jsonb') return eraseValues(text, values);
  const before: unknown = JSON.parse(text);
  const after = eraseInJson(before, values);
  // Formatting must not count as a change.
  return JSON.stringify(after) === JSON.stringify(before) ? text : JSON.stringify(after);
}
