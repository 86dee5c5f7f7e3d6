import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ConnectionLimits,
  createConnectionTable,
} from '../../../src/receiver/domain/connectionTable.ts';

const LIMITS: ConnectionLimits = { unverified: 6, unverifiedPerAddress: 3, verified: 4 };

describe('connections', () => {
  test('the oldest unverified ones are closed in favor of new ones', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (let id = 1; id <= 6; id += 1) expect(table.add(id, `address-${id}`)).toBe('not_needed');
    expect(table.add(7, 'address-7')).toBe('soon');
    expect(table.add(8, 'address-8')).toBe('soon');
    expect(table.enforce()).toEqual([
      { connection: 1, reason: 'connection_limit' },
      { connection: 2, reason: 'connection_limit' },
    ]);
    expect(table.enforce()).toEqual([]);
  });

  test('at twice the limit they are closed at once', () => {
    const table = createConnectionTable<number>(LIMITS);
    const added = Array.from({ length: 12 }, (_, id) => table.add(id, `address-${id}`));
    expect(added.indexOf('now')).toBe(11);
    expect(table.enforce()).toHaveLength(6);
  });

  test('one of a burst that is verified in time stays', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (let id = 1; id <= 11; id += 1) table.add(id, `address-${id}`);
    table.verify(1);
    expect(table.enforce().map(({ connection }) => connection)).toEqual([2, 3, 4, 5]);
    expect(table.isVerified(1)).toBe(true);
  });

  test('an address beyond its share competes only with itself', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'other');
    for (const id of [2, 3, 4]) expect(table.add(id, 'greedy')).toBe('not_needed');
    expect(table.add(5, 'greedy')).toBe('soon');
    expect(table.enforce()).toEqual([{ connection: 2, reason: 'address_limit' }]);
    expect(table.count()).toEqual({ verified: 0, unverified: 4 });
    expect(table.add(6, 'another')).toBe('not_needed');
  });

  test('connections that all ended before the limits are enforced cost their address nothing', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (const id of [1, 2, 3, 4]) table.add(id, 'greedy');
    for (const id of [1, 2, 3, 4]) table.remove(id);
    expect(table.enforce()).toEqual([]);
  });

  test('a trusted proxy has no share of its own', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (let id = 1; id <= 6; id += 1) expect(table.add(id, undefined)).toBe('not_needed');
    table.add(7, undefined);
    expect(table.enforce()).toEqual([{ connection: 1, reason: 'connection_limit' }]);
  });

  test('verified ones stay, however many others arrive', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'good');
    table.verify(1);
    for (let id = 2; id < 100; id += 1) {
      table.add(id, `address-${id % 10}`);
      if (id % 3 === 0) {
        expect(table.enforce().map(({ connection }) => connection)).not.toContain(1);
      }
    }
    expect(table.isVerified(1)).toBe(true);
  });

  test('the verified one that has not delivered for the longest time gives up its place', () => {
    const table = createConnectionTable<number>(LIMITS);
    for (const id of [1, 2, 3, 4, 5]) table.add(id, `address-${id}`);
    for (const id of [1, 2, 3, 4, 1, 5]) expect(table.verify(id)).toBe('not_needed');
    expect([1, 2, 3, 4, 5].filter(table.isVerified)).toEqual([1, 3, 4, 5]);
    expect(table.count()).toEqual({ verified: 4, unverified: 1 });
  });

  test('a delivery on a connection that was closed counts for nothing', () => {
    const table = createConnectionTable<number>(LIMITS);
    table.add(1, 'address');
    table.remove(1);
    expect(table.verify(1)).toBe('not_needed');
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
  const closeFirst = (candidates: readonly Connection[], limit: number, reason: string) => {
    const oldest = candidates.slice(0, Math.max(0, candidates.length - limit));
    for (const { id } of oldest) take(unverified, id);
    return oldest.map(({ id }) => ({ connection: id, reason }));
  };
  return {
    unverified,
    verified,
    add: (connection: Connection) => unverified.push(connection),
    verify: (id: number) => {
      const connection = take(unverified, id) ?? take(verified, id);
      if (!connection) return;
      verified.push(connection);
      const demoted = verified.length > LIMITS.verified ? verified.shift() : undefined;
      if (demoted) unverified.push(demoted);
    },
    enforce: () => {
      const ofAddresses = ['a', 'b', 'c'].flatMap((address) => {
        const own = unverified.filter((one) => one.address === address);
        return closeFirst(own, LIMITS.unverifiedPerAddress, 'address_limit');
      });
      const ofAll = closeFirst([...unverified], LIMITS.unverified, 'connection_limit');
      return [...ofAddresses, ...ofAll];
    },
    remove: (id: number) => {
      take(unverified, id);
      take(verified, id);
    },
  };
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'verify', 'verify', 'remove', 'enforce'),
    id: fc.nat(60),
    address: fc.constantFrom('a', 'b', 'c', undefined),
  }),
  { maxLength: 300 },
);

test('any sequence of events closes the connections that the rules name, and no others', () => {
  const byConnection = (
    { connection: a }: { connection: number },
    { connection: b }: { connection: number },
  ) => a - b;
  fc.assert(
    fc.property(steps, (course) => {
      const table = createConnectionTable<number>(LIMITS);
      const model = createModel();
      let nextId = 0;
      const enforce = () => {
        const closed = [...table.enforce()].sort(byConnection);
        expect(closed).toEqual(model.enforce().sort(byConnection));
      };
      const apply: Record<string, (id: number, address: string | undefined) => unknown> = {
        add: (_, address) => {
          model.add({ id: nextId, address });
          const enforcement = table.add(nextId, address);
          nextId += 1;
          if (enforcement === 'now') enforce();
          if (enforcement === 'not_needed') expect(table.enforce()).toEqual([]);
        },
        verify: (id) => {
          model.verify(id);
          if (table.verify(id) === 'now') enforce();
        },
        remove: (id) => {
          table.remove(id);
          model.remove(id);
        },
        enforce,
      };
      for (const { kind, id, address } of course) {
        apply[kind]?.(id, address);
        expect(table.count()).toEqual({
          verified: model.verified.length,
          unverified: model.unverified.length,
        });
        expect(model.unverified.length).toBeLessThan(2 * LIMITS.unverified);
        expect(model.verified.every((one) => table.isVerified(one.id))).toBe(true);
        expect(model.unverified.some((one) => table.isVerified(one.id))).toBe(false);
      }
    }),
  );
});
