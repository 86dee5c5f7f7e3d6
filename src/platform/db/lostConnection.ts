/** What happened to a connection that was lost between two statements of a transaction. */
import { errorCode, toError } from '../errors.ts';
import { SQLSTATES } from './sqlStates.ts';

/** The driver's error for a statement on a connection that was lost before. It names no reason. */
const ON_LOST_CONNECTION = /^Client has encountered a connection error/;

/**
 * The error with its reason, if the connection was lost before the statement.
 * @param loss what the connection reported when it was lost
 */
export function explainLoss(error: unknown, loss: Error | undefined): unknown {
  if (loss === undefined || !ON_LOST_CONNECTION.test(toError(error).message)) return error;
  const explained = new Error(textOf(loss), { cause: loss });
  return Object.assign(explained, { code: errorCode(loss) });
}

function textOf(loss: Error): string {
  const undone =
    'Nothing of the transaction is stored. Workers repeat it; repeat a command yourself';
  if (errorCode(loss) !== SQLSTATES.idle_in_transaction_session_timeout) {
    return `the connection to the database was lost within a transaction: ${loss.message}. ${undone}`;
  }
  return (
    'the server ended a transaction for which this process did nothing for 60 seconds, so that others get what it ' +
    `held. ${undone}. The process or its machine stood still: if that happens again, look for a suspended virtual ` +
    'machine, swapping, or a container without processor time'
  );
}
