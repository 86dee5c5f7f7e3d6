import { Command, InvalidArgumentError, Option } from 'commander';
import { clearImportAs, importArchiveAs } from '../../actions/importArchive.ts';
import { openArchiveTarget } from '../../archive/openTarget.ts';
import { ArchiveDamage } from '../../archive/readBatch.ts';
import {
  type LatestBatch,
  readArchivedClasses,
  readLatestBatches,
} from '../../archive/store/batches.ts';
import type { ArchiveTarget } from '../../archive/target.ts';
import { type ArchiveReport, verifyArchive } from '../../archive/verifyArchive.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { counted } from '../../platform/counted.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { OperatorError, UsageError } from '../../platform/errors.ts';
import { archivedBatchJson, archivedClassJson } from '../../representation/archive.ts';
import { timePlace } from '../../representation/cursor.ts';
import { formatTime } from '../../representation/time.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption, limitOption } from '../options.ts';
import { cursorOption, type PageOptions, placeOf, printPage } from '../paging.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { type Counted, withProgress } from '../progress.ts';
import { printTable } from '../table.ts';

export function archiveCommand(): Command {
  return new Command('archive')
    .addCommand(listCommand())
    .addCommand(verifyCommand())
    .addCommand(importCommand())
    .addCommand(clearCommand());
}

interface ListOptions extends PageOptions {
  readonly class?: string;
}

function listCommand(): Command {
  return new Command('list')
    .description('list what was archived and then removed, by class')
    .option('--class <class>', 'the latest batches of this class, for example messages')
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action(({ class: className, ...page }: ListOptions) =>
      withDatabase(readConfig(), (db) =>
        className === undefined ? listClasses(db, page.json) : listBatches(db, className, page),
      ),
    );
}

async function listClasses(db: Queryable, json: boolean): Promise<void> {
  const classes = await readArchivedClasses(db);
  if (json) printJson({ classes: classes.map(archivedClassJson) });
  else if (classes.length === 0) printLine('Nothing was archived.');
  else {
    printTable(
      ['CLASS', 'BATCHES', 'ROWS', 'REMOVED', 'BYTES', 'FIRST', 'LAST'],
      classes.map((one) => [
        one.className,
        ...[one.batches, one.rows, one.removed, one.bytes].map(String),
        formatTime(one.firstRemovedAt),
        formatTime(one.lastRemovedAt),
      ]),
    );
  }
}

async function listBatches(db: Queryable, className: string, page: PageOptions): Promise<void> {
  const [at, name] = placeOf(page.cursor, timePlace) ?? [];
  const after = at === undefined || name === undefined ? undefined : { at, name };
  const batches = await readLatestBatches(db, className, { after, limit: page.limit + 1 });
  printPage(batches, page, {
    name: 'batches',
    placeOf: (batch) => [formatInstant(batch.removedMicros), batch.name],
    toJson: archivedBatchJson,
    print: printBatches,
    none: 'Nothing of this class was archived.',
  });
}

function printBatches(batches: readonly LatestBatch[]): void {
  printTable(
    ['BATCH', 'ROWS', 'REMOVED', 'FILES', 'BYTES', 'REMOVED AT'],
    batches.map(({ name, rows, removed, files, bytes, removedAt }) => [
      name,
      ...[rows, removed, files, bytes].map(String),
      formatTime(removedAt),
    ]),
  );
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('check every hash and count of the archive, and that nothing removed is missing')
    .option('--class <class>', 'only this class, for example messages')
    .addOption(jsonOption())
    .addHelpText('after', '\nReads the whole archive. Exit code: 0 it is complete, 6 it is not.')
    .action(({ class: className, json }: Pick<ListOptions, 'class' | 'json'>) =>
      withDatabase(readConfig(), (db) =>
        withArchive(async (target) => {
          const classes = await readArchivedClasses(db);
          const total = classes
            .filter((one) => className === undefined || one.className === className)
            .reduce((sum, { batches }) => sum + batches, 0);
          const report = await withProgress((show) =>
            verifyArchive(db, target, {
              className,
              onProgress: (done) => show({ phase: 'batches', done, total }),
            }),
          );
          if (json) printJson(reportJson(report));
          else printReport(report, target);
          if (report.problems > 0) endAs('differences');
        }),
      ),
    );
}

function reportJson(report: ArchiveReport) {
  const { unrecorded, examples, incompleteParts, incompleteExamples, ...counts } = report;
  return {
    ...counts,
    not_removed: unrecorded,
    examples,
    incomplete_parts: incompleteParts,
    incomplete_examples: incompleteExamples,
  };
}

function printReport(report: ArchiveReport, target: ArchiveTarget): void {
  const { batches, rows, bytes, unrecorded, problems, examples } = report;
  for (const { batch, problem } of examples) printLine(`${batch}: ${problem}`);
  if (problems > examples.length) printLine(`… and ${problems - examples.length} more`);
  printLine(
    `${batches} ${batches === 1 ? 'batch' : 'batches'} of removed rows in ${target.description}; ${counted(rows, 'row')}, ${counted(bytes, 'byte')} read.`,
  );
  if (unrecorded > 0) {
    printLine(`Archived as well, with no row that this database removed: ${unrecorded}.`);
  }
  if (report.incompleteParts > 0) {
    printLine(
      `Parts that belong to no batch: ${report.incompleteParts}. A process ended while it archived them, or is ` +
        'archiving now. Their rows were not removed. Delete those that are older than a day:',
    );
    for (const name of report.incompleteExamples) printLine(`  ${name}`);
  }
  printLine(
    problems === 0
      ? 'The archive is complete.'
      : `Damaged or missing batches: ${problems}. Restore their files from a copy of the archive.`,
  );
}

interface ImportOptions {
  readonly first: number;
  readonly last: number;
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

function importCommand(): Command {
  return new Command('import')
    .description(
      'read archived rows back: bodies to the inbox, other rows to the table imported_rows',
    )
    .argument('<class>', 'the class, for example messages', readClass)
    .addOption(keyOption('--first <key>', 'the first key', 0))
    .addOption(keyOption('--last <key>', 'the last key', Number.MAX_SAFE_INTEGER))
    .addOption(reasonOption('why you import it; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Keys are inbox numbers of events and bodies, and numbers or ids of everything else. Imported bodies stay
for a week: events can be shown and replayed, and verify --rebuild reads them.

  tallyhook archive import messages --first 1 --last 5000 --reason 'question of the auditor'
  tallyhook archive import bodies --first 4711 --last 4711 --reason 'replay after the correction'

Exit code: 0 imported, 4 the archive is damaged.`,
    )
    .action((className: string, { first, last, reason, by, json }: ImportOptions) =>
      withDatabase(readConfig(), (db) =>
        withArchive(async (target) => {
          const input = { range: { className, first, last }, reason };
          const imported = await withProgress((show) => {
            const onProgress = (progress: Counted) => show({ phase: 'rows', ...progress });
            return importArchiveAs({ db, target, onProgress }, actorOf(by), input);
          });
          if (json) printJson(imported);
          else printLine(importedText(className, imported));
        }),
      ),
    );
}

function importedText(
  className: string,
  { read, stored }: { readonly read: number; readonly stored: number },
): string {
  const result = `${counted(read, 'row')} read, and ${stored} imported.`;
  return className !== 'bodies' || stored === read
    ? result
    : `${result} A body returns only if its event is in the inbox without it, and if it was not erased. The files of the archive have the others.`;
}

function readClass(text: string): string {
  if (/^[a-z_]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the name of a class, such as messages.');
}

function keyOption(flag: string, description: string, otherwise: number): Option {
  return new Option(flag, description).default(otherwise, 'all').argParser((text) => {
    const key = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(key)) return key;
    throw new InvalidArgumentError('Give a whole number.');
  });
}

function clearCommand(): Command {
  return new Command('clear')
    .description('delete the rows that were imported; the archive keeps them')
    .addOption(byOption())
    .action(({ by }: { readonly by?: string }) =>
      withDatabase(readConfig(), async (db) => {
        const rows = await clearImportAs(db, actorOf(by));
        printLine(`${rows} imported rows were deleted.`);
      }),
    );
}

/** Opens the archive of the settings. */
async function withArchive(work: (target: ArchiveTarget) => Promise<void>): Promise<void> {
  const { archive } = readConfig();
  if (archive === undefined) {
    throw new UsageError(
      'There is no archive: ARCHIVE_URL is not set. Set it to file:///path/of/a/folder or s3://bucket/prefix.',
    );
  }
  const target = await openArchiveTarget(archive);
  try {
    await work(target);
  } catch (error) {
    if (!(error instanceof ArchiveDamage)) throw error;
    throw new OperatorError(
      `The archive ${target.description} is damaged: ${error.message}. Run \`npx tallyhook archive verify\`.`,
    );
  } finally {
    target.close();
  }
}
