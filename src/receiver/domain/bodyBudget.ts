/**
 * How many bytes of bodies may be in memory before their signatures are verified. Anybody can send
 * bodies, so all of them together have a budget.
 *
 * 1. If the bodies exceed the budget, the largest of them is refused, and among equals the oldest,
 *    until the rest fits. Events are small and arrive at once, so a body that occupies much memory for
 *    long gives way to them. Refusing the newest instead would let a few slow bodies lock out every
 *    sender.
 * 2. Bodies of one address have at most their share of the budget, and beyond it compete only with
 *    each other.
 * 3. Bodies of verified senders have a budget of their own, which other bodies cannot exhaust.
 */

export interface BodyLimits {
  readonly unverifiedBytes: number;
  readonly unverifiedBytesPerAddress: number;
  readonly verifiedBytes: number;
}

export interface BodyOrigin {
  readonly address: string;
  /** A delivery of this sender was verified before, on the same connection. */
  readonly isVerified: boolean;
}

export interface BodyBudget<Body> {
  /**
   * Charges a body for further bytes.
   * @returns the bodies to refuse, perhaps this one among them; they are no longer charged
   */
  charge(body: Body, origin: BodyOrigin, bytes: number): readonly Body[];
  /** Ends the charge of a body. Has no effect on one that is not charged. */
  release(body: Body): void;
  /** Bytes that are charged. */
  total(): number;
}

interface Account {
  readonly origin: BodyOrigin;
  bytes: number;
}

/** The bodies that share a limit, oldest first, and their bytes. */
interface Pool<Body> {
  readonly accounts: Map<Body, Account>;
  bytes: number;
}

const createPool = <Body>(): Pool<Body> => ({ accounts: new Map(), bytes: 0 });

export function createBodyBudget<Body>(limits: BodyLimits): BodyBudget<Body> {
  const verified = createPool<Body>();
  const unverified = createPool<Body>();
  const byAddress = new Map<string, Pool<Body>>();
  const accounts = new Map<Body, Account>();

  const poolsOf = ({ isVerified, address }: BodyOrigin): readonly [Pool<Body>, number][] => {
    if (isVerified) return [[verified, limits.verifiedBytes]];
    const own = byAddress.get(address) ?? createPool<Body>();
    byAddress.set(address, own);
    return [
      [own, limits.unverifiedBytesPerAddress],
      [unverified, limits.unverifiedBytes],
    ];
  };
  const release = (body: Body): void => {
    const account = accounts.get(body);
    if (!account) return;
    accounts.delete(body);
    for (const [pool] of poolsOf(account.origin)) {
      pool.accounts.delete(body);
      pool.bytes -= account.bytes;
    }
    const { address } = account.origin;
    if (byAddress.get(address)?.accounts.size === 0) byAddress.delete(address);
  };

  return {
    charge: (body, origin, bytes) => {
      const account = accounts.get(body) ?? { origin, bytes: 0 };
      accounts.set(body, account);
      account.bytes += bytes;
      const pools = poolsOf(account.origin);
      for (const [pool] of pools) {
        pool.accounts.set(body, account);
        pool.bytes += bytes;
      }
      const refused: Body[] = [];
      for (const [pool, limit] of pools) {
        while (pool.bytes > limit) {
          const largest = largestOf(pool);
          if (largest === undefined) break;
          release(largest);
          refused.push(largest);
        }
      }
      return refused;
    },
    release,
    total: () => verified.bytes + unverified.bytes,
  };
}

function largestOf<Body>({ accounts }: Pool<Body>): Body | undefined {
  let largest: Body | undefined;
  let mostBytes = 0;
  for (const [body, { bytes }] of accounts) {
    if (bytes <= mostBytes) continue;
    largest = body;
    mostBytes = bytes;
  }
  return largest;
}
