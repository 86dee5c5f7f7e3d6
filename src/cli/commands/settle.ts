/** The commands of settlement reports and bank statements. */
import { stat } from 'node:fs/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type ExaminedFile,
  examineFile,
  FileChanged,
  importSettlementAs,
} from '../../actions/importSettlement.ts';
import { matchLineAs, unmatchLineAs } from '../../actions/matchSettlementLine.ts';
import { formatMoney, toSafeInteger } from '../../contract/money.ts';
import {
  CLEARING_PART_NAMES,
  CLEARING_PARTS,
  type ClearingItem,
  type ClearingPart,
  type CurrencyClearing,
  clearingPlaceOf,
} from '../../ledger/domain/clearing.ts';
import { parseTarget } from '../../ledger/domain/lines.ts';
import type { Imported } from '../../ledger/lines/importFile.ts';
import { readClearingAsOf, readUnmatched } from '../../ledger/read/clearing.ts';
import {
  type ImportedFileRow,
  type ListedLine,
  readFile,
  readFiles,
  readLinesWithMatches,
} from '../../ledger/read/store/settlement.ts';
import { counted } from '../../platform/counted.ts';
import { NotFoundError, OperatorError, toError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { cutPage, numberPlace, placeRead, timePlace } from '../../representation/cursor.ts';
import {
  clearingItemJson,
  clearingJson,
  importedFileJson,
  listedLineJson,
} from '../../representation/settlement.ts';
import { notMatchedText, notUnmatchedText } from '../../representation/settlementText.ts';
import { FileProblem } from '../../settlement/domain/fileProblem.ts';
import { parseSource, type Source } from '../../settlement/sourceFile.ts';
import { formatMicros, printJson, readConfig, readInput, withDatabase } from '../context.ts';
import { printLine, printNote } from '../invocation.ts';
import { currencyOption } from '../listOptions.ts';
import { jsonOption, limitOption, momentOption, readNumberOf } from '../options.ts';
import { cursorOption, type PageOptions, placeOf, printPage } from '../paging.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { withElapsed } from '../progress.ts';
import { printTable } from '../table.ts';

export function settleCommand(): Command {
  return new Command('settle')
    .addCommand(importCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(unmatchedCommand())
    .addCommand(matchCommand())
    .addCommand(unmatchCommand());
}

interface ImportOptions {
  readonly source: string;
  readonly dryRun: boolean;
  readonly by?: string;
  readonly json: boolean;
}

const IMPORT_NOTES = `
The source file declares how the file is read: docs/guides/bank-reconciliation.md. A file is imported whole or
not at all. Lines that are stored already are skipped, so you can import a file again, or one that overlaps it.

Exit code: 0, 2 if the file or the source file cannot be read, 4 if a line contradicts an imported one.`;

const CONTINUED =
  'The file ends with a page that is not the last: the statement has another page. Import that file, too. ' +
  'If your bank does not deliver pages as files, this one was cut: download and import it again.';

function importCommand(): Command {
  return new Command('import')
    .description('import a settlement report (CSV) or a bank statement (camt.053, MT940)')
    .argument('<file>', 'path of the file')
    .requiredOption('--source <file>', 'the source file (JSON) that declares how the file is read')
    .option('--dry-run', 'only read the file, and print what it comes to', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', IMPORT_NOTES)
    .action(async (file: string, { source: path, dryRun, by, json }: ImportOptions) => {
      const source = await readSource(path);
      const examined = await examine(file, source);
      if (examined.isContinued) printNote(CONTINUED);
      if (dryRun) {
        printExamined(examined, json);
        return;
      }
      await withDatabase(readConfig(), async (db) => {
        const request = { path: file, source, examined };
        const imported = await withElapsed('import', () =>
          importSettlementAs({ db }, actorOf(by), request),
        ).catch((error: unknown) => {
          if (!(error instanceof FileChanged)) throw error;
          throw new OperatorError(`${printable(error.message)}. Nothing was imported. Try again.`);
        });
        printImported(imported, json);
      });
    });
}

async function readSource(path: string): Promise<Source> {
  const read = parseSource((await readInput(path)).toString('utf8'));
  if (read.outcome === 'read') return read.source;
  const problems = read.problems.map(printable).join('\n');
  throw new UsageError(
    `The source file ${printable(path)} cannot be used. Nothing was imported.\n${problems}`,
  );
}

async function examine(file: string, source: Source): Promise<ExaminedFile> {
  try {
    // It is read twice, which neither a pipe nor standard input allows.
    if (!(await stat(file)).isFile())
      throw new UsageError(`${printable(file)} is not a regular file.`);
    return await examineFile(file, source);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (!(error instanceof FileProblem) && !('code' in toError(error))) throw error;
    throw new UsageError(
      `The file ${printable(file)} cannot be read. Nothing was imported.\n${printable(toError(error).message)}.`,
    );
  }
}

function printExamined({ lines, ignored, sums, digest }: ExaminedFile, json: boolean): void {
  const currencies = [...sums].map(([currency, sum]) => ({ currency, ...sum }));
  if (json) {
    printJson({
      outcome: 'examined',
      digest,
      lines,
      ignored,
      currencies: currencies.map((one) => ({
        currency: one.currency,
        lines: one.lines,
        amount_gross: toSafeInteger(one.grossMinor),
        amount_fee: toSafeInteger(one.feeMinor),
      })),
    });
    return;
  }
  printLine(`${counted(lines, 'line')}, ${ignored} ignored. Nothing was imported.`);
  printTable(
    ['CURRENCY', 'LINES', 'GROSS', 'FEES', 'NET'],
    currencies.map(({ currency, lines: count, grossMinor, feeMinor }) => [
      currency,
      String(count),
      ...[grossMinor, feeMinor, grossMinor - feeMinor].map((one) => formatMoney(one, currency)),
    ]),
  );
}

type Refused = Extract<Imported, { readonly outcome: 'conflict' | 'changed' }>;

function refusalOf(refused: Refused): string {
  if (refused.outcome === 'changed') {
    const { file, fileLine } = refused;
    return (
      `The file was imported before, as file ${file}, and the source file reads line ${fileLine} in another way ` +
      'than it did then. Nothing was imported: the line would be stored twice, with its fee. Restore what the ' +
      'source file declares about lines that are stored, and import the file again.'
    );
  }
  const { fileLine, lineReference, otherFile, otherLine } = refused.conflict;
  const other =
    otherFile === null
      ? `line ${otherLine}`
      : `line ${otherLine} of the imported file ${otherFile}`;
  return (
    `Line ${fileLine} has the number ${printable(lineReference)}, and so has ${other}, with other content. ` +
    'Nothing was imported. Contact the service, or leave "line" out of the source file if its ' +
    'numbers are not of single lines.'
  );
}

function printImported(imported: Imported, json: boolean): void {
  if (imported.outcome === 'conflict' || imported.outcome === 'changed') {
    throw new OperatorError(refusalOf(imported));
  }
  if (json) {
    printJson(
      imported.outcome === 'known'
        ? { outcome: 'known', file: imported.file, matched: imported.matched }
        : {
            outcome: 'imported',
            file: imported.file,
            lines: imported.lines,
            new_lines: imported.newLines,
            ignored: imported.ignored,
            matched: imported.matched,
            transfers: imported.transfers,
          },
    );
  } else if (imported.outcome === 'known') {
    const { file, matched } = imported;
    const since = matched === 0 ? 'Nothing changed.' : `${matched} older lines are matched now.`;
    printLine(`This file was imported before, as file ${file}. ${since}`);
  } else {
    const { file, lines, newLines, ignored, matched, transfers } = imported;
    printLine(
      `File ${file}: ${counted(newLines, 'new line')} of ${lines}, ${ignored} ignored. ${counted(transfers, 'transfer')} posted, ` +
        `${counted(matched, 'line')} matched. See npx tallyhook settle unmatched.`,
    );
  }
}

function listCommand(): Command {
  return new Command('list')
    .description('list imported files, newest first')
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action((page: PageOptions) =>
      withDatabase(readConfig(), async (db) => {
        const before = placeOf(page.cursor, numberPlace)?.[0];
        printPage(await readFiles(db, { before, limit: page.limit + 1 }), page, {
          name: 'files',
          placeOf: ({ id }) => [id],
          toJson: importedFileJson,
          print: printFiles,
          none: 'No file was imported.',
        });
      }),
    );
}

function printFiles(files: readonly ImportedFileRow[]): void {
  printTable(
    ['FILE', 'SOURCE', 'FORMAT', 'LINES', 'NEW', 'IGNORED', 'UNMATCHED', 'IMPORTED', 'BY', 'NAME'],
    files.map((file) => [
      String(file.id),
      file.source,
      file.format,
      ...[file.lines, file.newLines, file.ignored, file.unmatched].map(String),
      formatMicros(file.importedMicros),
      printable(file.importedBy),
      file.name,
    ]),
  );
}

function showCommand(): Command {
  return new Command('show')
    .description('show the lines that a file added, with what each is matched with and why')
    .argument('<file>', 'number of the file', readNumberOf('a file'))
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0, 3 if there is no such file.')
    .action((number: number, page: PageOptions) =>
      withDatabase(readConfig(), async (db) => {
        const file = await readFile(db, number);
        if (!file) throw new NotFoundError(`No imported file has the number ${number}.`);
        const after = placeOf(page.cursor, numberPlace)?.[0] ?? 0;
        const lines = await readLinesWithMatches(db, {
          file: number,
          after,
          limit: page.limit + 1,
        });
        if (page.json) {
          const { shown, next } = cutPage(lines, page.limit, ({ id }) => [id]);
          printJson({
            ...importedFileJson(file),
            added: shown.map(listedLineJson),
            next_cursor: next,
          });
          return;
        }
        printFiles([file]);
        printPage(lines, page, {
          name: 'added',
          placeOf: ({ id }) => [id],
          toJson: listedLineJson,
          print: printLines,
          none: 'It added no line.',
        });
      }),
    );
}

function printLines(lines: readonly ListedLine[]): void {
  printTable(
    ['LINE', 'AT', 'DAY', 'TYPE', 'GROSS', 'FEE', 'NAMES', 'MATCHED WITH', 'BECAUSE'],
    lines.map((line) => [
      String(line.id),
      String(line.fileLine),
      line.day,
      line.type,
      formatMoney(line.grossMinor, line.currency),
      formatMoney(line.feeMinor, line.currency),
      line.reference ?? line.text ?? '',
      printable(
        line.targetId === null ? (line.targetKind ?? '') : `${line.targetKind}:${line.targetId}`,
      ),
      line.reason ?? '',
    ]),
  );
}

interface UnmatchedOptions extends PageOptions {
  readonly part?: ClearingPart;
  readonly currency?: string;
  readonly asOf?: number;
}

const PARTS_HELP = CLEARING_PART_NAMES.map((part) => `  ${part}: ${CLEARING_PARTS[part]}`).join(
  '\n',
);

function unmatchedCommand(): Command {
  return new Command('unmatched')
    .description(
      'explain the balance of psp.clearing, and list what is unmatched on either side, oldest first',
    )
    .addOption(new Option('--part <part>', 'only this part').choices(CLEARING_PART_NAMES))
    .addOption(currencyOption())
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(momentOption('--as-of', 'only the balances, as they were before this time'))
    .addOption(jsonOption())
    .addHelpText('after', `\nParts:\n${PARTS_HELP}\n\nExit code: 0.`)
    .action((options: UnmatchedOptions) =>
      withDatabase(readConfig(), async (db) => {
        const { asOf, part, currency, cursor, limit } = options;
        if (asOf === undefined) {
          const after = placeRead(placeOf(cursor, timePlace));
          const query = { part, currency, after, limit: limit + 1 };
          const found = await withElapsed('unmatched', () => readUnmatched(db, query));
          printUnmatched(found.clearing, found.items, options);
          return;
        }
        const clearing = await withElapsed('unmatched', () => readClearingAsOf(db, asOf));
        const own = clearing.filter((one) => currency === undefined || one.currency === currency);
        printUnmatched(own, [], options);
      }),
    );
}

function printUnmatched(
  clearing: readonly CurrencyClearing[],
  items: readonly ClearingItem[],
  options: UnmatchedOptions,
): void {
  if (options.json) {
    const { shown, next } = cutPage(items, options.limit, clearingPlaceOf);
    printJson({
      clearing: clearing.map(clearingJson),
      unmatched: shown.map(clearingItemJson),
      next_cursor: next,
    });
    return;
  }
  for (const { currency, balanceMinor, parts } of clearing) {
    printLine(`psp.clearing holds ${formatMoney(balanceMinor, currency)}:`);
    printTable(
      ['AMOUNT', 'ITEMS', 'OLDEST', 'WHY'],
      parts.map(({ part, amountMinor, items: count, sinceMicros }) => [
        formatMoney(amountMinor, currency),
        String(count),
        formatMicros(sinceMicros),
        CLEARING_PARTS[part],
      ]),
    );
  }
  if (options.asOf !== undefined) return;
  printPage(items, options, {
    name: 'unmatched',
    placeOf: clearingPlaceOf,
    toJson: clearingItemJson,
    print: printItems,
    none: 'Nothing is unmatched.',
  });
}

function printItems(items: readonly ClearingItem[]): void {
  printTable(
    ['SINCE', 'AMOUNT', 'WHAT', 'NAMES', 'PART'],
    items.map((item) => [
      formatMicros(item.sinceMicros),
      formatMoney(item.amountMinor, item.currency),
      item.subject,
      item.reference ?? '',
      item.part,
    ]),
  );
}

interface HandOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json: boolean;
}

const MATCH_NOTES = `
A report line is about a resource of its type (payment:pay_1), or about nothing that the ledger has (adjustment),
which posts its amount. A bank line is about a settlement (settlement:3), or not the service's (excluded), which
takes back what it posted. With --write-off, what the target then still differs by is posted to
service.adjustments. Nothing is deleted: \`tallyhook settle unmatch\` posts the reverse.

Exit code: 0, 3 if there is no such line or target, 4 if the line is matched, or cannot be about that.`;

function matchCommand(): Command {
  return new Command('match')
    .description('match a line by hand')
    .argument('<line>', 'number of the line', readNumberOf('a line'))
    .argument(
      '<target>',
      'payment:ID, refund:ID, dispute:ID, payout:ID, settlement:NUMBER, adjustment or excluded',
      readTarget,
    )
    .addOption(reasonOption('why, for the record'))
    .option('--write-off', 'write off what the target still differs by', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', MATCH_NOTES)
    .action(
      (
        lineId: number,
        target: NonNullable<ReturnType<typeof parseTarget>>,
        options: HandOptions & { readonly writeOff: boolean },
      ) =>
        withDatabase(readConfig(), async (db) => {
          const { writeOff, by } = options;
          const input = { lineId, target, writeOff, reason: options.reason };
          const matched = await matchLineAs({ db }, actorOf(by), input);
          if (matched.outcome !== 'matched') {
            throw refusal(matched.outcome, notMatchedText(lineId, matched));
          }
          const { writtenOffMinor, currency, transfers } = matched;
          if (options.json) {
            printJson({
              line: lineId,
              outcome: 'matched',
              written_off: writtenOffMinor,
              currency,
              transfers,
            });
          } else {
            const writtenOff =
              writtenOffMinor === 0
                ? ''
                : ` ${formatMoney(writtenOffMinor, currency)} written off.`;
            printLine(`Matched. ${counted(transfers, 'transfer')} posted.${writtenOff}`);
          }
        }),
    );
}

function readTarget(text: string) {
  const target = parseTarget(text);
  if (target) return target;
  throw new InvalidArgumentError('Give payment:pay_1, settlement:3, adjustment or excluded.');
}

function refusal(outcome: string, text: string): OperatorError {
  const Refusal = ['no_line', 'no_target'].includes(outcome) ? NotFoundError : OperatorError;
  return new Refusal(printable(text));
}

function unmatchCommand(): Command {
  return new Command('unmatch')
    .description('undo the match of a line; rules leave the line alone afterwards')
    .argument('<line>', 'number of the line', readNumberOf('a line'))
    .addOption(reasonOption('why, for the record'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0, 3 if there is no such line, 4 if it is not matched.')
    .action((lineId: number, options: HandOptions) =>
      withDatabase(readConfig(), async (db) => {
        const input = { lineId, reason: options.reason };
        const unmatched = await unmatchLineAs({ db }, actorOf(options.by), input);
        if (unmatched.outcome !== 'unmatched') {
          throw refusal(unmatched.outcome, notUnmatchedText(lineId, unmatched));
        }
        if (options.json) {
          printJson({ line: lineId, outcome: 'unmatched', transfers: unmatched.transfers });
        } else printLine(`Unmatched. ${counted(unmatched.transfers, 'transfer')} posted.`);
      }),
    );
}
