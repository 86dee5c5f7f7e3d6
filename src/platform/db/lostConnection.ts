/** What happened to a connection that was lost between two statements of a transaction. */
import { errorCode, toError } from '../errors.ts';
import { SQLSTATES } from './sqlStates.ts';

/** The driver's error for a statement on a connection that was lost before. It names no reason. */
const ON_LOST_CONNECTION = /^Client has encountered a connection error/;

/** Why each connection was lost, if that was between two statements. */
const losses = new WeakMap<object, Error>();

/** The server's reason comes first; that the connection has ended may follow as a second one. */
export function noteLoss(connection: object, error: Error): void {
  if (!losses.has(connection)) losses.set(connection, error);
}

/** The error with its reason, if the connection was lost before the statement, or while it was on its way. */
export function explainLoss(error: unknown, connection: object): unknown {
  const given = toError(error);
  const wasLost = ON_LOST_CONNECTION.test(given.message);
  const cause = wasLost ? losses.get(connection) : isSilence(given) ? given : undefined;
  if (cause === undefined) return error;
  return Object.assign(new Error(textOf(cause), { cause }), { code: errorCode(cause) });
}

function isSilence(error: Error): boolean {
  return errorCode(error) === SQLSTATES.idle_in_transaction_session_timeout;
}

function textOf(loss: Error): string {
  const undone =
    'Nothing of the transaction is stored. Workers repeat it; repeat a command yourself';
  if (!isSilence(loss)) {
    return `the connection to the database was lost within a transaction: ${loss.message}. ${undone}`;
  }
  return (
    'the server ended a transaction for which this process did nothing for 60 seconds, so that others get what it ' +
    `held. ${undone}. The process or its machine did not run: if that happens again, look for a suspended virtual ` +
    'machine, swapping, or a container without processor time'
  );
}
