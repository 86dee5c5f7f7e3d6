/**
 * What was read before the locks is no longer so; the transaction must be started over, with these
 * orders locked too.
 */
export class OrdersMoved extends Error {
  override readonly name = 'OrdersMoved';
  readonly orderKeys: readonly string[];
  constructor(orderKeys: readonly string[]) {
    super('a resource or order was created or moved by another transaction meanwhile');
    this.orderKeys = orderKeys;
  }
}

const MAX_STARTS = 20;

/** Runs a transaction again with more orders locked, when it finds that it needs them. */
export async function startOver<T>(run: (alsoLock: readonly string[]) => Promise<T>): Promise<T> {
  let alsoLock: readonly string[] = [];
  for (let start = 1; ; start += 1) {
    try {
      return await run(alsoLock);
    } catch (error) {
      if (!(error instanceof OrdersMoved) || start === MAX_STARTS) throw error;
      alsoLock = [...alsoLock, ...error.orderKeys];
    }
  }
}
