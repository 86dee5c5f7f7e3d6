/**
 * Finds the model of a statement by its text.
 *
 * 1. The text is never copied: the store function that has it is called with a recorder.
 * 2. A model states the fingerprint of the text that it was written for. Where the text has changed, nothing
 *    runs until a person has compared the two and states the new fingerprint.
 * 3. A text without a model is an error that names it.
 */
import { createHash } from 'node:crypto';
import type { Database, Queryable } from '../../../src/platform/db/database.ts';
import type { Traits } from './execution.ts';
import type { Execution } from './rows.ts';
import type { Model } from './server.ts';
import type { Tables } from './tables.ts';

/** The rows of the arrays that a statement unnests, by the names that its text gives them. */
export type Input = readonly Readonly<Record<string, unknown>>[];

type Run = (
  x: Execution,
  tables: Tables,
  values: readonly unknown[],
  input: () => Input,
) => ReturnType<Model<Tables>>;

export interface Statement {
  readonly name: string;
  readonly fingerprint: string;
  readonly text: string;
  readonly traits: Traits;
  readonly run: Model<Tables>;
}

/**
 * @param store a store function; what it is called with must make it send its statement
 * @param fingerprint of its text, as `npm run simulate -- --fingerprints` prints it
 */
export function modeled<Args extends readonly unknown[]>(
  store: (db: Database, ...args: Args) => unknown,
  args: Args,
  fingerprint: string,
  run: Run,
): Statement {
  const text = textOf(store, args);
  const unnested = createUnnest(text);
  return {
    name: store.name,
    fingerprint,
    text,
    traits: traitsOf(text),
    run: (x, tables, values) => run(x, tables, values, () => unnested(values)),
  };
}

function traitsOf(text: string): Traits {
  return {
    isLocking: /\bfor (no key )?(update|share)\b/.test(text),
    isSkipping: /\bskip locked\b/.test(text),
    isOrdered: /\border by\b/.test(text),
  };
}

function textOf<Args extends readonly unknown[]>(
  store: (db: Database, ...args: Args) => unknown,
  args: Args,
): string {
  let recorded: string | undefined;
  const record = (text: string): Promise<never[]> => {
    recorded ??= text;
    return Promise.resolve([]);
  };
  const recorder: Pick<Database, 'query' | 'prepared'> & Queryable = {
    query: record,
    prepared: record,
  };
  const result = store(recorder as Database, ...args);
  // What a function makes of no rows does not matter here.
  if (result instanceof Promise) result.catch(() => undefined);
  if (recorded === undefined) throw new Error(`${store.name} sends no statement`);
  return recorded;
}

export function fingerprintOf(text: string): string {
  return createHash('sha256').update(text.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 8);
}

/** Statements with a text that their models were not written for. */
export function changedStatements(statements: readonly Statement[]): readonly Statement[] {
  return statements.filter(({ text, fingerprint }) => fingerprintOf(text) !== fingerprint);
}

/** Statements with a day in their text differ in nothing else. */
const withoutDay = (text: string) => text.replace(/date '\d{4}-\d{2}-\d{2}'/g, 'date');

export function createLookup(statements: readonly Statement[]): (text: string) => Statement {
  const byText = new Map(statements.map((statement) => [withoutDay(statement.text), statement]));
  return (text) => {
    const statement = byText.get(withoutDay(text));
    if (statement) return statement;
    throw new Error(`the model of the database does not know this statement:\n${text}`);
  };
}

const UNNEST = /unnest\(((?:[^()]|\(\d+\))*)\)\s*(?:with ordinality\s*)?as \w+\s*\(([^)]*)\)/;

/** In a select list, each array with its name. */
const UNNEST_SELECTED = /unnest\(\$(\d+)::\w+\[\]\) as (\w+)/g;

function createUnnest(text: string): (values: readonly unknown[]) => Input {
  const [, parameters = '', names = ''] = UNNEST.exec(text) ?? selected(text);
  const places = [...parameters.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place) - 1);
  const fields = names.split(',').map((name) => name.trim());
  return (values) => {
    const columns = places.map((place) => values[place] as readonly unknown[]);
    return (columns[0] ?? []).map((_, row) =>
      Object.fromEntries(columns.map((column, place) => [fields[place] ?? '', column[row]])),
    );
  };
}

function selected(text: string): readonly string[] {
  const columns = [...text.matchAll(UNNEST_SELECTED)];
  return [
    '',
    columns.map(([, place]) => `$${place}`).join(),
    columns.map(([, , name]) => name).join(),
  ];
}
