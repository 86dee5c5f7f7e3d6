/** A pool of connections to the model, as createDatabase makes one to PostgreSQL. */
import type { Database, Queryable } from '../../../src/platform/db/database.ts';
import type { Actor } from '../scheduler.ts';
import { BEGIN, COMMIT, type Connection, ROLLBACK } from './wire.ts';

interface Wire {
  connect(actor: Actor): Promise<Connection>;
  send<Row extends object>(
    connection: Connection,
    text: string,
    values?: readonly unknown[],
  ): Promise<Row[]>;
}

export function createPool(wire: Wire, actor: Actor, maxConnections: number): Database {
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;

  const openOne = async (): Promise<Connection> => {
    open += 1;
    try {
      return await wire.connect(actor);
    } catch (error) {
      open -= 1;
      waiting.shift()?.();
      throw error;
    }
  };
  const acquire = async (): Promise<Connection> => {
    for (;;) {
      const connection = idle.pop();
      if (connection && !connection.lost) return connection;
      if (connection) open -= 1;
      else if (open < maxConnections) return await openOne();
      else await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const withConnection = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await acquire();
    try {
      return await work(connection);
    } finally {
      if (connection.lost) open -= 1;
      else idle.push(connection);
      waiting.shift()?.();
    }
  };
  const query = <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> =>
    withConnection((connection) => wire.send<Row>(connection, text, values));
  return {
    query,
    prepared: query,
    transaction: (work) => withConnection((connection) => transaction(wire, connection, work)),
    session: () => Promise.reject(new Error('the model has no sessions with temporary tables')),
    examinePooling: () => Promise.reject(new Error('the model has no pooler')),
    probe: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

async function transaction<T>(
  wire: Wire,
  connection: Connection,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  try {
    await wire.send(connection, BEGIN);
    const result = await work({ query: (text, values) => wire.send(connection, text, values) });
    await wire.send(connection, COMMIT);
    return result;
  } catch (error) {
    await wire.send(connection, ROLLBACK).catch(() => undefined);
    throw error;
  }
}
