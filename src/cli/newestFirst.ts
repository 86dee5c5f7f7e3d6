/** A list without filters, in pages by the number of its rows, newest first. */
import { Command } from 'commander';
import type { Database } from '../platform/db/database.ts';
import { numberPlace } from '../representation/cursor.ts';
import { readConfig, withDatabase } from './context.ts';
import { jsonOption, limitOption } from './options.ts';
import { cursorOption, type Listed, type PageOptions, placeOf, printPage } from './paging.ts';

interface NewestFirst<Row> extends Omit<Listed<Row>, 'placeOf'> {
  readonly description: string;
  /** Rows with a number below one. */
  readonly read: (
    db: Database,
    page: { readonly below: number; readonly limit: number },
  ) => Promise<readonly Row[]>;
}

export function newestFirstCommand<Row extends { readonly id: number }>({
  description,
  read,
  ...listed
}: NewestFirst<Row>): Command {
  return new Command('list')
    .description(description)
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action((page: PageOptions) =>
      withDatabase(readConfig(), async (db) => {
        const [below] = placeOf(page.cursor, numberPlace) ?? [Number.MAX_SAFE_INTEGER];
        const rows = await read(db, { below, limit: page.limit + 1 });
        printPage(rows, page, { ...listed, placeOf: ({ id }) => [id] });
      }),
    );
}
