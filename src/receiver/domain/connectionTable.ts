/**
 * Which connections may stay open. Anybody can open connections, so they are bounded in number.
 *
 * 1. A connection is verified once a delivery with a valid signature arrived on it. Verified
 *    connections have places of their own, which no number of other connections can take.
 * 2. If too many connections are not verified, the oldest of them is closed in favor of the new one.
 *    A sender needs only the time of one delivery to be verified, and a silent connection does not
 *    outlive that under pressure. Refusing the new one instead would let silent connections lock out
 *    every sender.
 * 3. One address has at most its share of the places of unverified connections, and beyond it competes
 *    only with itself. The share does not apply to a trusted proxy, which has many clients.
 * 4. If all places of verified connections are taken, the one that has not delivered for the longest
 *    time counts as unverified again.
 * 5. The limits are not enforced with each new connection but soon after, so that what a burst of
 *    connections sent is read before any of them is closed. Meanwhile there are at most twice as many.
 */

export interface ConnectionLimits {
  readonly unverified: number;
  readonly unverifiedPerAddress: number;
  readonly verified: number;
}

/** Why a connection was closed. */
export const CLOSING_REASONS = ['address_limit', 'connection_limit'] as const;

export interface Closing<Connection> {
  readonly connection: Connection;
  readonly reason: (typeof CLOSING_REASONS)[number];
}

/** When the limits must be enforced. */
export type Enforcement = 'not_needed' | 'soon' | 'now';

export interface ConnectionTable<Connection> {
  /**
   * Adds a new connection.
   * @param address undefined if the peer is a trusted proxy
   */
  add(connection: Connection, address: string | undefined): Enforcement;
  /** Records a delivery with a valid signature. Has no effect on a connection that is not in the table. */
  verify(connection: Connection): Enforcement;
  /** @returns the connections to close, which are no longer in the table */
  enforce(): readonly Closing<Connection>[];
  isVerified(connection: Connection): boolean;
  remove(connection: Connection): void;
  count(): { readonly verified: number; readonly unverified: number };
}

const BURST_FACTOR = 2;

export function createConnectionTable<Connection>(
  limits: ConnectionLimits,
): ConnectionTable<Connection> {
  // Sets iterate in the order of insertion: the first connection is the oldest.
  const unverified = new Set<Connection>();
  const verified = new Set<Connection>();
  const addresses = new Map<Connection, string | undefined>();
  const unverifiedByAddress = new Map<string | undefined, Set<Connection>>();
  /** Addresses that may be beyond their share. */
  const crowded = new Set<string>();

  const dropUnverified = (connection: Connection): void => {
    unverified.delete(connection);
    const address = addresses.get(connection);
    const siblings = unverifiedByAddress.get(address);
    siblings?.delete(connection);
    if (siblings?.size === 0) unverifiedByAddress.delete(address);
  };
  const remove = (connection: Connection): void => {
    dropUnverified(connection);
    verified.delete(connection);
    addresses.delete(connection);
  };
  const closeOldest = (
    candidates: ReadonlySet<Connection>,
    limit: number,
    reason: Closing<Connection>['reason'],
  ): readonly Closing<Connection>[] => {
    const closings: Closing<Connection>[] = [];
    for (const connection of candidates) {
      if (candidates.size <= limit) break;
      remove(connection);
      closings.push({ connection, reason });
    }
    return closings;
  };
  /** Makes a connection the newest of the unverified ones. */
  const addUnverified = (connection: Connection): Enforcement => {
    unverified.add(connection);
    const address = addresses.get(connection);
    if (address !== undefined) {
      const siblings = unverifiedByAddress.get(address) ?? new Set();
      unverifiedByAddress.set(address, siblings.add(connection));
      if (siblings.size > limits.unverifiedPerAddress) crowded.add(address);
    }
    if (unverified.size >= BURST_FACTOR * limits.unverified) return 'now';
    return crowded.size > 0 || unverified.size > limits.unverified ? 'soon' : 'not_needed';
  };

  return {
    add: (connection, address) => {
      addresses.set(connection, address);
      return addUnverified(connection);
    },
    verify: (connection) => {
      if (!addresses.has(connection)) return 'not_needed';
      dropUnverified(connection);
      verified.delete(connection);
      verified.add(connection);
      const [longestIdle] = verified;
      if (verified.size <= limits.verified || longestIdle === undefined) return 'not_needed';
      verified.delete(longestIdle);
      return addUnverified(longestIdle);
    },
    enforce: () => {
      const closings = [...crowded].flatMap((address) =>
        closeOldest(
          unverifiedByAddress.get(address) ?? new Set(),
          limits.unverifiedPerAddress,
          'address_limit',
        ),
      );
      crowded.clear();
      return [...closings, ...closeOldest(unverified, limits.unverified, 'connection_limit')];
    },
    isVerified: (connection) => verified.has(connection),
    remove,
    count: () => ({ verified: verified.size, unverified: unverified.size }),
  };
}
