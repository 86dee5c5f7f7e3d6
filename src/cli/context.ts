/** What commands share: settings, the database, and the two forms of output. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '../assembly/database.ts';
import { type Config, loadConfig, readEnvironment } from '../config/config.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { createDatabase, type Database } from '../platform/db/database.ts';
import { openDatabaseClock } from '../platform/db/databaseClock.ts';
import { isDatabaseUnavailable } from '../platform/db/failures.ts';
import { refusePendingMigrations } from '../platform/db/pendingMigrations.ts';
import { OperatorError, toError } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';

export function readConfig(): Config {
  return loadConfig(readEnvironment());
}

/** Commands say what they have to say themselves; the log is for what goes wrong. */
export const quiet = createLog('error');

/** Opens the database for one command. The embedded one is started if it does not run. */
export async function withDatabase<T>(
  config: Config,
  work: (db: Database, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const opened = await openDatabase(config, quiet);
  const db = createDatabase({
    connectionString: opened.url,
    log: quiet,
    applicationName: 'tallyhook-cli',
    maxConnections: 2,
    responseTimeoutMs: 60_000,
    plans: 'any',
  });
  try {
    return await work(db, opened.url).catch(async (error: unknown) => {
      if (isOfSchema(error)) await refusePendingMigrations(db);
      return explainDatabase(error, config);
    });
  } finally {
    await db.close();
    await opened.close();
  }
}

/** The database's clock: what a command stores must not depend on where it was typed. */
export function clockOf(db: Database): Promise<Clock> {
  return openDatabaseClock(db, systemClock);
}

/** undefined_column, undefined_function, undefined_table */
const SCHEMA_CODES = new Set(['42703', '42883', '42P01']);

/** Whether a statement named something that the database does not have, as before a migration. */
function isOfSchema(error: unknown): boolean {
  return SCHEMA_CODES.has(codeOf(error));
}

/**
 * Says of a database that cannot be used what to check; throws everything else as it is.
 * @param setting names the database
 */
export function explainDatabase(
  error: unknown,
  { databaseUrl, dataDir }: Config,
  setting = 'DATABASE_URL',
): never {
  if (error instanceof OperatorError) throw error;
  const { message } = toError(error);
  if (isDatabaseUnavailable(error)) {
    if (databaseUrl === undefined && setting === 'DATABASE_URL') {
      throw new OperatorError(
        `The embedded PostgreSQL was lost (${message}). Start again; if it is lost again, ` +
          `${path.join(dataDir, 'postgres.log')} ends with the reason.`,
      );
    }
    throw new OperatorError(
      `The database cannot be reached (${message}). Check ${setting} and that the server runs.`,
    );
  }
  switch (codeOf(error)) {
    case '28000':
    case '28P01':
      throw new OperatorError(
        `The database lets nobody in like this (${message}). Check the user and the password in ${setting}.`,
      );
    case '3D000':
      throw new OperatorError(
        `There is no such database (${message}). Make it with \`createdb\`, or check ${setting}.`,
      );
    default:
      throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Reads the file that a command was given; `-` is standard input. */
export function readInput(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The file ${file} cannot be read: ${why}`);
  }
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Text from outside must not move the cursor or change the colours of a terminal. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '\uFFFD');
}

/** The same of a text that has lines, which stay lines. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => printable(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** An instant for people, with its zone. */
export function formatTime(time: Date | null): string {
  return time === null
    ? '-'
    : time
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC');
}

/** The same of microseconds since 1970. */
export function formatMicros(instantMicros: number): string {
  return formatTime(new Date(Math.floor(instantMicros / 1_000)));
}
