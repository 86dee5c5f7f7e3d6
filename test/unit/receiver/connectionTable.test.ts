import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ConnectionLimits,
  createConnectionTable,
} from '../../../src/receiver/domain/connectionTable.ts';

const LIMITS: ConnectionLimits = { unverified: 6, unverifiedPerAddress: 3, verified: 4 };

describe('connections', () => {
  test('the oldest unverified one is closed in favor of a new one', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (let id = 1; id <= 6; id += 1) expect(table.add(id, `address-${id}`)).toBeUndefined();
    expect(table.add(7, 'address-7')).toEqual({ connection: 1, reason: 'connection_limit' });
    expect(table.add(8, 'address-8')).toEqual({ connection: 2, reason: 'connection_limit' });
  });

  test('an address beyond its share competes only with itself', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'other');
    for (const id of [2, 3, 4]) table.add(id, 'greedy');
    expect(table.add(5, 'greedy')).toEqual({ connection: 2, reason: 'address_limit' });
    expect(table.count()).toEqual({ verified: 0, unverified: 4 });
  });

  test('a trusted proxy has no share of its own', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (let id = 1; id <= 6; id += 1) expect(table.add(id, undefined)).toBeUndefined();
    expect(table.add(7, undefined)).toEqual({ connection: 1, reason: 'connection_limit' });
  });

  test('verified ones stay, however many others arrive', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'good');
    table.verify(1);
    const closed = Array.from({ length: 100 }, (_, id) => table.add(id + 2, `address-${id % 10}`));
    expect(closed.some((closing) => closing?.connection === 1)).toBe(false);
    expect(table.isVerified(1)).toBe(true);
  });

  test('the verified one that has not delivered for the longest time gives up its place', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (const id of [1, 2, 3, 4, 5]) table.add(id, `address-${id}`);
    for (const id of [1, 2, 3, 4, 1]) expect(table.verify(id)).toBeUndefined();
    expect(table.verify(5)).toBeUndefined();
    expect([1, 2, 3, 4, 5].filter(table.isVerified)).toEqual([1, 3, 4, 5]);
    expect(table.count()).toEqual({ verified: 4, unverified: 1 });
  });

  test('a delivery on a connection that was closed counts for nothing', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'address');
    table.remove(1);
    expect(table.verify(1)).toBeUndefined();
    expect(table.count()).toEqual({ verified: 0, unverified: 0 });
  });
});

interface Connection {
  readonly id: number;
  readonly address: string | undefined;
}

/** The rules once more, over plain lists in the order of age. */
function createModel() {
  const unverified: Connection[] = [];
  const verified: Connection[] = [];
  const take = (list: Connection[], id: number): Connection | undefined => {
    const index = list.findIndex((one) => one.id === id);
    return index === -1 ? undefined : list.splice(index, 1)[0];
  };
  const closeFirst = (candidates: readonly Connection[], reason: string) => {
    const [oldest] = candidates;
    if (oldest) take(unverified, oldest.id);
    return { connection: oldest?.id, reason };
  };
  const add = (connection: Connection) => {
    unverified.push(connection);
    const { address } = connection;
    const own = unverified.filter((one) => address !== undefined && one.address === address);
    if (own.length > LIMITS.unverifiedPerAddress) return closeFirst(own, 'address_limit');
    if (unverified.length > LIMITS.unverified) return closeFirst(unverified, 'connection_limit');
    return undefined;
  };
  return {
    unverified,
    verified,
    add,
    verify: (id: number) => {
      const connection = take(unverified, id) ?? take(verified, id);
      if (!connection) return undefined;
      verified.push(connection);
      const demoted = verified.length > LIMITS.verified ? verified.shift() : undefined;
      return demoted && add(demoted);
    },
    remove: (id: number) => {
      take(unverified, id);
      take(verified, id);
    },
  };
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'verify', 'verify', 'remove'),
    id: fc.nat(60),
    address: fc.constantFrom('a', 'b', 'c', undefined),
  }),
  { maxLength: 300 },
);

test('any sequence of events closes the connections that the rules name, and no others', () => {
  fc.assert(
    fc.property(steps, (course) => {
      const table = createConnectionTable<number>(LIMITS);
      const model = createModel();
      let nextId = 0;
      for (const { kind, id, address } of course) {
        if (kind === 'add') {
          expect(table.add(nextId, address)).toEqual(model.add({ id: nextId, address }));
          nextId += 1;
        } else if (kind === 'verify') {
          expect(table.verify(id)).toEqual(model.verify(id));
        } else {
          table.remove(id);
          model.remove(id);
        }
        expect(table.count()).toEqual({
          verified: model.verified.length,
          unverified: model.unverified.length,
        });
        expect(model.verified.every((one) => table.isVerified(one.id))).toBe(true);
        expect(model.unverified.some((one) => table.isVerified(one.id))).toBe(false);
      }
    }),
  );
});
