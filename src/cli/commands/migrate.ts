import { Command } from 'commander';
import { openDatabase } from '../../assembly/database.ts';
import type { Config } from '../../config/config.ts';
import { type Migrated, migrateDatabase } from '../../platform/db/migrate.ts';
import { explainDatabase, printJson, quiet, readConfig } from '../context.ts';
import { printLine, printNote, printText } from '../invocation.ts';
import { jsonOption } from '../options.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .addOption(jsonOption())
    .action(async ({ json }: { readonly json: boolean }) => {
      const { applied, refused } = await migrate(readConfig());
      if (json) printJson({ applied, refused });
      else printResult(applied, refused);
    });
}

/** The embedded database is started only if no address is set. */
async function migrate(config: Config): Promise<Migrated> {
  const { setting, url } = addressOf(config);
  const migrateAt = (address: string) =>
    migrateDatabase(address, { onWait: printNote }).catch((error: unknown) =>
      explainDatabase(error, config, setting),
    );
  if (url !== undefined) return await migrateAt(url);
  const database = await openDatabase(config, quiet, printNote).catch((error: unknown) =>
    explainDatabase(error, config),
  );
  try {
    return await migrateAt(database.url);
  } finally {
    await database.close();
  }
}

function addressOf({ databaseUrl, migrateDatabaseUrl, queueDatabaseUrl }: Config) {
  if (migrateDatabaseUrl !== undefined)
    return { setting: 'MIGRATE_DATABASE_URL', url: migrateDatabaseUrl };
  if (queueDatabaseUrl !== undefined)
    return { setting: 'QUEUE_DATABASE_URL', url: queueDatabaseUrl };
  return { setting: 'DATABASE_URL', url: databaseUrl };
}

function printResult(applied: readonly string[], refused: readonly string[]): void {
  printLine(applied.length === 0 ? 'Up to date.' : `Applied ${applied.join(', ')}.`);
  if (refused.length === 0) return;
  printText(
    '\nThe user of this connection may not run these statements. Processes that log in with the least\n' +
      'rights need them (docs/guides/database-roles.md). Run them as an administrator, then migrate again:',
  );
  for (const statement of refused) printText(`  ${statement};`);
}
