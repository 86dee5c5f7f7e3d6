/**
 * What was read before the locks has changed. Retry the transaction and lock these orders, too.
 */
export class LockSetChanged extends Error {
  override readonly name = 'LockSetChanged';
  readonly orderKeys: readonly string[];
  constructor(orderKeys: readonly string[]) {
    super('another transaction created or moved a resource or order that this transaction needs');
    this.orderKeys = orderKeys;
  }
}

const MAX_ATTEMPTS = 20;

/** Runs a transaction and retries it with more orders locked each time it throws LockSetChanged. */
export async function retryWithMoreLocks<T>(
  run: (alsoLock: readonly string[]) => Promise<T>,
): Promise<T> {
  let alsoLock: readonly string[] = [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(alsoLock);
    } catch (error) {
      if (!(error instanceof LockSetChanged) || attempt === MAX_ATTEMPTS) throw error;
      alsoLock = [...alsoLock, ...error.orderKeys];
    }
  }
}
