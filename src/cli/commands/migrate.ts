import { Command } from 'commander';
import { openDatabase } from '../../assembly/database.ts';
import { migrateDatabase } from '../../platform/db/migrate.ts';
import { createLog } from '../../platform/log.ts';
import { explainDatabase, printJson, readConfig } from '../context.ts';
import { jsonOption } from '../options.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .addOption(jsonOption())
    .action(async ({ json }: { readonly json: boolean }) => {
      const config = readConfig();
      const database = await openDatabase(config, createLog('error'));
      try {
        const { migrateDatabaseUrl } = config;
        const applied = await migrateDatabase(migrateDatabaseUrl ?? database.url).catch(
          (error: unknown) =>
            explainDatabase(error, config, migrateDatabaseUrl && 'MIGRATE_DATABASE_URL'),
        );
        if (json) printJson({ applied });
        else console.log(applied.length === 0 ? 'Up to date.' : `Applied ${applied.join(', ')}.`);
      } finally {
        await database.close();
      }
    });
}
