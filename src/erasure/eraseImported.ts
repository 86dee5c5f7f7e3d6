/**
 * Erases bodies that an import would bring back of people who were erased.
 *
 * 1. Retention may have removed the body of an event before its person was erased. Then the erasure did not find
 *    it, and the archive still has it. It is recorded as erased when it is read back, and does not come back.
 * 2. A body is a person's if it names what a request names: an order, a payment or a customer, of which a request
 *    that is done keeps the digest. It is also if it names a resource of which a body was erased: a refund names no
 *    customer.
 * 3. What was received after a request was done is of somebody who came back.
 */

import type { ImportableBody } from '../ledger/bodies/archiveDay.ts';
import { orderIdOf } from '../ledger/domain/orderKey.ts';
import {
  findErasable,
  findErasuresOfResources,
  insertErasedBodies,
} from '../ledger/store/erasure.ts';
import { groupBy } from '../platform/collections.ts';
import type { Queryable } from '../platform/db/database.ts';
import { digestOfCustomer } from './customerDigest.ts';
import { parseBody } from './domain/bodyObjects.ts';
import { carriedIds, subjectText } from './domain/subjects.ts';
import { findErasuresOfSubjects, readFinishedAt } from './store/erasures.ts';

/** @returns the events with a body that is erased */
export async function eraseImported(
  tx: Queryable,
  bodies: readonly ImportableBody[],
): Promise<ReadonlySet<number>> {
  const named = await readNames(tx, bodies);
  const bySubject = await findErasuresOfSubjects(tx, [...namesOf(named, 'subjects')]);
  const own = await recordErased(tx, named, { names: 'subjects', erasures: bySubject });
  const rest = named.filter(({ id }) => !own.has(id));
  // After the first step, so that a refund is found by its payment among the same bodies.
  const byResource = await findErasuresOfResources(tx, [...namesOf(rest, 'resources')]);
  const linked = await recordErased(tx, rest, { names: 'resources', erasures: byResource });
  return new Set([...own, ...linked]);
}

/** A body with what requests may name. */
interface NamedBody extends ImportableBody {
  readonly subjects: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
}

async function readNames(
  tx: Queryable,
  bodies: readonly ImportableBody[],
): Promise<readonly NamedBody[]> {
  const carried = bodies.map((one) => ({
    ...one,
    ids: carriedIds(parseBody(one.body.toString('utf8'))),
  }));
  const ids = [...new Set(carried.flatMap((one) => [...one.ids.resources]))];
  const known = groupBy(await findErasable(tx, { ids, orderKeys: [] }), ({ id }) => id);
  return carried.map(({ ids: { resources: own, orders, customers }, ...one }) => {
    const found = [...own].flatMap((id) => known.get(id) ?? []);
    const resources = new Set([...own, ...found.flatMap(({ paymentId }) => paymentId ?? [])]);
    const keys = found.flatMap(({ orderKey }) => orderKey ?? []);
    const orderIds = [...orders, ...keys, ...keys.map(orderIdOf)];
    const subjects = [
      ...orderIds.map((id) => subjectText({ kind: 'order', id })),
      ...[...resources].map((id) => subjectText({ kind: 'payment', id })),
      ...[...customers].flatMap((id) =>
        [id, digestOfCustomer(id)].map((name) => subjectText({ kind: 'customer', id: name })),
      ),
    ];
    return { ...one, resources, subjects: new Set(subjects) };
  });
}

type Names = 'subjects' | 'resources';

function namesOf(bodies: readonly NamedBody[], names: Names): ReadonlySet<string> {
  return new Set(bodies.flatMap((one) => [...one[names]]));
}

interface Found {
  readonly names: Names;
  readonly erasures: readonly { readonly name: string; readonly id: number }[];
}

/** Records the bodies of people that requests erased (rule 3). @returns their events */
async function recordErased(
  tx: Queryable,
  bodies: readonly NamedBody[],
  { names, erasures }: Found,
): Promise<ReadonlySet<number>> {
  const finishedAt = await readFinishedAt(tx, [...new Set(erasures.map(({ id }) => id))]);
  const byName = groupBy(erasures, ({ name }) => name);
  const erased = bodies.flatMap(({ id, receivedAt, [names]: own }) => {
    const found = [...own]
      .flatMap((name) => byName.get(name) ?? [])
      .find((erasure) => receivedAt <= (finishedAt.get(erasure.id) ?? receivedAt));
    return found ? [{ id, erasureId: found.id }] : [];
  });
  for (const [erasureId, group] of groupBy(erased, (one) => one.erasureId)) {
    await insertErasedBodies(tx, { ids: group.map(({ id }) => id), erasureId });
  }
  return new Set(erased.map(({ id }) => id));
}
