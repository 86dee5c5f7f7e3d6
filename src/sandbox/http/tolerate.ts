/**
 * Reads requests as leniently as the real service, which accepts more than the contract. The
 * contract's schemas then validate the result.
 *
 * *Near miss*: a misspelled field name, which differs from the field's by its case, its separators, or
 * a letter or two.
 *
 * 1. Fields that an object does not have are ignored and listed.
 * 2. A near miss is rejected, and so is a name that the contract forbids: a misspelled `payment_id`
 *    would silently make retries unsafe. In a query, where nothing moves money, it is ignored.
 * 3. An optional field that is null counts as left out.
 * 4. Enumeration values, and codes of currencies and countries, are read in any case.
 * 5. Objects without fields in the contract are accepted as they are.
 * 6. A required field may have the family's name.
 */
import type { z } from 'zod';
import { FORBIDDEN_NAMES, orderDetailRequest, type RequestProblem } from '../../contract/index.ts';
import { country, currency, currencyFilter } from '../../contract/requests/fields.ts';
import { editDistance } from '../../platform/editDistance.ts';

export interface Tolerated {
  /** For the schema to validate. */
  readonly value: unknown;
  /** Paths of the fields that were ignored. */
  readonly ignored: readonly string[];
  /** A near miss. */
  readonly problem: RequestProblem | undefined;
}

export interface TolerateOptions {
  /** Whether near misses are rejected (rule 2). */
  readonly rejectsNearMisses: boolean;
}

export function tolerate(schema: z.ZodType, sent: unknown, options: TolerateOptions): Tolerated {
  const seen: Seen = { ...options, ignored: [], problem: undefined };
  const value = read(schema, sent, { path: '', seen });
  return { value, ignored: seen.ignored, problem: seen.problem };
}

interface Seen extends TolerateOptions {
  readonly ignored: string[];
  problem: RequestProblem | undefined;
}

interface Position {
  readonly path: string;
  readonly seen: Seen;
}

/** The parts of zod's definitions that request schemas use. */
type Def = z.core.$ZodTypeDef & {
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly catchall?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
  readonly discriminator?: string;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
};

/** Schemas of codes in capitals, which are read in any case (rule 4). */
const CODES: ReadonlySet<z.core.$ZodType> = new Set([currency, currencyFilter, country]);

function read(schema: z.core.$ZodType, sent: unknown, position: Position): unknown {
  if (typeof sent === 'string' && CODES.has(schema)) return sent.toUpperCase();
  const def = schema._zod.def as Def;
  switch (def.type) {
    case 'optional':
      return sent === null || def.innerType === undefined
        ? undefined
        : read(def.innerType, sent, position);
    case 'enum':
    case 'literal':
      return wordOf(wordsOf(def), sent);
    case 'array':
      return readArray(def, sent, position);
    case 'object':
      return readObject(def, withContractNames(schema, sent), position);
    case 'union':
      return readUnion(def, sent, position);
    default:
      return sent;
  }
}

function wordsOf({ entries, values }: Def): readonly unknown[] {
  return values ?? Object.values(entries ?? {});
}

/** The value as the enumeration spells it; an unknown value stays, and the schema rejects it. */
function wordOf(words: readonly unknown[], sent: unknown): unknown {
  if (typeof sent !== 'string' || words.includes(sent)) return sent;
  const lower = sent.toLowerCase();
  return words.find((word) => typeof word === 'string' && word.toLowerCase() === lower) ?? sent;
}

function readArray({ element }: Def, sent: unknown, { path, seen }: Position): unknown {
  if (!Array.isArray(sent) || element === undefined) return sent;
  return sent.map((one, index) => read(element, one, { path: join(path, String(index)), seen }));
}

/** The family's names of required fields, with the contract's (rule 6). */
const FAMILY_NAMES: ReadonlyMap<z.core.$ZodType, Readonly<Record<string, string>>> = new Map([
  [orderDetailRequest, { product_name: 'name' }],
]);

/** Where an object has both names of a field, that of the contract counts. */
function withContractNames(schema: z.core.$ZodType, sent: unknown): unknown {
  const names = FAMILY_NAMES.get(schema);
  if (names === undefined || !isPlainObject(sent)) return sent;
  const pairs = Object.entries(sent).map(([name, value]) => {
    const ours = Object.hasOwn(names, name) ? names[name] : undefined;
    return [ours === undefined || Object.hasOwn(sent, ours) ? name : ours, value];
  });
  return Object.fromEntries(pairs);
}

function readObject(def: Def, sent: unknown, position: Position): unknown {
  const { shape = {}, catchall } = def;
  const takesAny = catchall !== undefined && catchall._zod.def.type !== 'never';
  if (!isPlainObject(sent) || takesAny) return sent;
  const names = Object.keys(shape);
  const pairs = Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const path = join(position.path, name);
    if (field !== undefined) return [[name, read(field, value, { ...position, path })]];
    return isKept(name, names, { ...position, path }) ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Whether an unknown name is kept, so that the schema rejects it (rules 1 and 2). */
function isKept(name: string, names: readonly string[], { path, seen }: Position): boolean {
  if (FORBIDDEN_NAMES.has(name)) return true;
  const suggestion = seen.rejectsNearMisses ? nearestName(name, names) : undefined;
  if (suggestion === undefined) {
    seen.ignored.push(path);
    return false;
  }
  const message = `${path}: not a field of this request; did you mean ${suggestion}?`;
  seen.problem ??= { code: 'IR_04', field: path, message };
  return true;
}

/** Chooses the option by the discriminator where there is one; otherwise reads enumeration values. */
function readUnion(def: Def, sent: unknown, position: Position): unknown {
  const { options = [], discriminator } = def;
  if (discriminator !== undefined) {
    const chosen = options.find((option) => fits(option, discriminator, sent));
    return chosen === undefined ? sent : read(chosen, sent, position);
  }
  const words = options.flatMap((option) => wordsOf(option._zod.def as Def));
  return wordOf(words, sent);
}

function fits(option: z.core.$ZodType, name: string, sent: unknown): boolean {
  if (!isPlainObject(sent)) return false;
  const field = (option._zod.def as Def).shape?.[name];
  if (field === undefined) return false;
  const words = wordsOf(field._zod.def as Def);
  return words.includes(wordOf(words, sent[name]));
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const LONG = 8;
const SHORT = 4;

/** The field that a near miss misspells; undefined for any other name. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  return names.find((known) => isNearMiss(name, known));
}

function isNearMiss(name: string, known: string): boolean {
  const [one, other] = [plain(name), plain(known)];
  if (one === other) return true;
  // `line3` is not a misspelling of `line1`, and `customer` is not one of `customer_id`.
  if (stem(one) === stem(other)) return false;
  const shorter = Math.min(one.length, other.length);
  const allowed = shorter >= LONG ? 2 : shorter >= SHORT ? 1 : 0;
  return Math.abs(one.length - other.length) <= allowed && editDistance(one, other) <= allowed;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function stem(name: string): string {
  return name.replaceAll(/\d/g, '').replace(/id$/, '');
}
