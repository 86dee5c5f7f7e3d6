/**
 * Finds what belongs to people: the resources of the ledger, the events about them, and the values by
 * which copies of personal data are found elsewhere.
 *
 * No index leads from a resource to every event about it, and none from a customer to anything, so the
 * bodies are read: once for orders and payments, from the day on which they were first seen, and once
 * more, all of them, for customers. Many people cost no more than one.
 */

import { scanBodies } from '../ledger/bodies/scanBodies.ts';
import { namedOrderId, orderKeysNamed } from '../ledger/domain/orderKey.ts';
import type { ResourceRef } from '../ledger/domain/snapshot.ts';
import { type ErasableResource, findErasable } from '../ledger/store/erasure.ts';
import type { Queryable } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { parseBody } from './domain/bodyObjects.ts';
import { createMatcher, MIN_VALUE_LENGTH } from './domain/matcher.ts';
import { personalValues } from './domain/personalValues.ts';
import {
  type CarriedIds,
  carriedIds,
  type ErasureSubject,
  subjectText,
} from './domain/subjects.ts';

/** Everything found of one subject. */
export interface Person {
  readonly subject: ErasureSubject;
  readonly refs: readonly ResourceRef[];
  /** Ids beside which a common value belongs to the person. */
  readonly ids: ReadonlySet<string>;
  /** Inbox numbers. */
  readonly events: ReadonlySet<number>;
  /** Values, and whether each is distinctive. */
  readonly values: ReadonlyMap<string, boolean>;
}

interface OpenPerson {
  readonly subject: ErasureSubject;
  readonly refs: Map<string, ResourceRef>;
  readonly resources: Set<string>;
  readonly orders: Set<string>;
  readonly events: Set<number>;
  readonly values: Map<string, boolean>;
}

export interface FindOptions {
  /** Called with the number of bodies read so far. */
  readonly onProgress?: ((bodies: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Bounds the memory of a search. A body of the largest size has a tenth of it. */
const MAX_VALUES = 500_000;

/** @throws OperatorError for more values than can be searched for at once: none is left out silently */
export async function findPersonalData(
  db: Queryable,
  subjects: readonly ErasureSubject[],
  { onProgress = () => undefined, signal }: FindOptions,
): Promise<readonly Person[]> {
  const people: readonly OpenPerson[] = subjects.map((subject) => ({
    subject,
    refs: new Map(),
    resources: new Set(subject.kind === 'payment' ? [subject.id] : []),
    orders: new Set(subject.kind === 'order' ? [subject.id] : []),
    events: new Set(),
    values: new Map(),
  }));
  let read = 0;
  const count = (bodies: number) => {
    read += bodies;
    onProgress(read);
  };
  let since = await addResources(db, people);
  const customers = people.filter(({ subject }) => subject.kind === 'customer');
  if (customers.length > 0) {
    await collect(db, { people: customers, since: undefined, count, signal });
    since = await addResources(db, people);
  }
  await collect(db, { people, since, count, signal });
  await addResources(db, people);
  return people.map(close);
}

/**
 * Adds the resources of the ledger to people.
 * @returns the time before which no event about any of them was received; undefined if that is unknown
 */
async function addResources(
  db: Queryable,
  people: readonly OpenPerson[],
): Promise<Date | undefined> {
  const ids = [...new Set(people.flatMap(({ resources }) => [...resources]))];
  const orderKeys = people.flatMap(({ subject }) => orderKeysOf(subject));
  const found = await findErasable(db, { ids, orderKeys });
  const byName = new Map<string, ErasableResource[]>();
  for (const one of found) {
    for (const name of [one.id, one.paymentId, one.orderKey]) {
      if (name !== null) byName.set(name, [...(byName.get(name) ?? []), one]);
    }
  }
  for (const person of people) {
    const names = [...person.resources, ...orderKeysOf(person.subject)];
    addToPerson(
      person,
      names.flatMap((name) => byName.get(name) ?? []),
    );
  }
  const known = new Set(found.map(({ id }) => id));
  if (found.length === 0 || !ids.every((id) => known.has(id))) return undefined;
  return new Date(Math.min(...found.map(({ since }) => since.getTime())));
}

function orderKeysOf({ kind, id }: ErasureSubject): readonly string[] {
  return kind === 'order' ? orderKeysNamed(id) : [];
}

function addToPerson(
  { refs, resources, orders }: OpenPerson,
  found: readonly ErasableResource[],
): void {
  for (const { kind, id, orderKey } of found) {
    refs.set(`${kind}:${id}`, { kind, id });
    resources.add(id);
    const orderId = namedOrderId(orderKey);
    if (orderId !== undefined) orders.add(orderId);
  }
}

interface Collection {
  readonly people: readonly OpenPerson[];
  readonly since: Date | undefined;
  readonly count: (bodies: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** Reads the bodies, and adds to people the events about them with their ids and values. */
async function collect(db: Queryable, input: Collection): Promise<void> {
  const { people, since, count, signal } = input;
  const wanted = new Map<string, Set<OpenPerson>>();
  const want = (kind: keyof CarriedIds, id: string, person: OpenPerson) => {
    const key = keyOf(kind, id);
    wanted.set(key, (wanted.get(key) ?? new Set()).add(person));
  };
  for (const person of people) {
    const { subject, resources } = person;
    for (const id of resources) want('resources', id, person);
    if (subject.kind === 'order') want('orders', subject.id, person);
    if (subject.kind === 'customer') want('customers', subject.id, person);
  }
  const idOf = (key: string) => key.slice(key.indexOf(' ') + 1);
  // Parsing every body takes ten times as long as searching it.
  const ids = [...wanted.keys()].map((key) => ({ value: idOf(key), owner: key }));
  const areSearchable = ids.every(({ value }) => value.trim().length >= MIN_VALUE_LENGTH);
  const matcher = createMatcher(ids);
  await scanBodies(db, { since, signal }, (bodies) => {
    count(bodies.length);
    for (const { id, body } of bodies) {
      const text = body.toString('utf8');
      const matches = areSearchable ? matcher.find(text) : ids;
      if (matches.length > 0) assign({ id, text, matches, wanted });
    }
    refuseTooMany(people);
  });
}

function refuseTooMany(people: readonly OpenPerson[]): void {
  const count = people.reduce((sum, { values }) => sum + values.size, 0);
  if (count <= MAX_VALUES) return;
  const [most] = people.toSorted((a, b) => b.values.size - a.values.size);
  throw new OperatorError(
    `The events name more than ${MAX_VALUES} values to search for, ${most?.values.size} of them those of ` +
      `${most && subjectText(most.subject)}. Nothing was erased. Name fewer people, or orders and payments one by one.`,
  );
}

interface MatchedBody {
  readonly id: number;
  readonly text: string;
  readonly matches: readonly { readonly owner: string }[];
  readonly wanted: ReadonlyMap<string, ReadonlySet<OpenPerson>>;
}

function assign({ id, text, matches, wanted }: MatchedBody): void {
  const body = parseBody(text);
  // What is no JSON belongs to whom it names.
  const carried = body === undefined ? undefined : carriedIds(body);
  const keys = carried ? keysOf(carried) : matches.map(({ owner }) => owner);
  const owners = new Set(keys.flatMap((key) => [...(wanted.get(key) ?? [])]));
  const values = owners.size > 0 ? personalValues(body) : [];
  for (const person of owners) {
    person.events.add(id);
    for (const one of carried?.resources ?? []) person.resources.add(one);
    for (const one of carried?.orders ?? []) person.orders.add(one);
    for (const { value, isDistinctive } of values) {
      person.values.set(value, isDistinctive || person.values.get(value) === true);
    }
  }
}

function keysOf(carried: CarriedIds): readonly string[] {
  const kinds = ['resources', 'orders', 'customers'] as const;
  return kinds.flatMap((kind) => [...carried[kind]].map((id) => keyOf(kind, id)));
}

function keyOf(kind: keyof CarriedIds, id: string): string {
  return `${kind} ${id}`;
}

function close({ subject, refs, resources, orders, events, values }: OpenPerson): Person {
  // An order id stays, even one that is a mail address: the ledger is kept by it.
  const ids = new Set([subject.id, ...resources, ...orders]);
  return {
    subject,
    refs: [...refs.values()],
    ids: new Set([...ids, ...[...events].map((event) => `event:${event}`)]),
    events,
    values: new Map([...values].filter(([value]) => !ids.has(value))),
  };
}
