import type { Database } from '../platform/db/database.ts';
import { OperatorError } from '../platform/errors.ts';
import { tryLockSandbox } from './store/account.ts';

/**
 * Makes sure that no other sandbox works over this database: two would send every webhook twice, and
 * each would have a clock of its own.
 * @returns what gives the database free again
 * @throws OperatorError when there is another one
 */
export async function holdDatabase(db: Database): Promise<() => Promise<void>> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return await new Promise((resolve, reject) => {
    const session = db.session(async (connection) => {
      if (!(await tryLockSandbox(connection))) {
        throw new OperatorError(
          'Another sandbox runs over this database, and two would send every webhook twice. ' +
            'Use that one, stop it, or give this one a database of its own.',
        );
      }
      resolve(async () => {
        release();
        await session;
      });
      await released;
    });
    session.catch(reject);
  });
}
