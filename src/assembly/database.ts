/** Opens the database that the settings name. */
import type { Config } from '../config/config.ts';
import type { Log } from '../platform/log.ts';

/** The database that the settings name, started if it is the embedded one. */
export interface OpenedDatabase {
  readonly url: string;
  readonly isEmbedded: boolean;
  /**
   * Keeps the embedded database running. Rejects with an OperatorError after the last restart attempt.
   * Does nothing for an external database.
   */
  supervise(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the database. The embedded one is started and migrated.
 * @param onWait is given what a start that takes long waits for; by default, it is logged
 */
export async function openDatabase(
  config: Config,
  log: Log,
  onWait = (message: string): void => log.warn({ message }, 'embedded_postgres'),
): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      isEmbedded: false,
      supervise: () => new Promise(() => undefined),
      close: () => Promise.resolve(),
    };
  }
  // Loaded only here: commands with an external database start in a third of the time.
  const { migrateDatabase } = await import('../platform/db/migrate.ts');
  const { startEmbeddedPostgres } = await import('../platform/embeddedPostgres/index.ts');
  const server = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: (message) => log.debug({ message }, 'embedded_postgres'),
    onWait,
  });
  await migrateDatabase(server.connectionString);
  return {
    url: server.connectionString,
    isEmbedded: true,
    supervise: () => server.supervise((message) => log.warn({ message }, 'embedded_postgres')),
    close: () => server.stop(),
  };
}
