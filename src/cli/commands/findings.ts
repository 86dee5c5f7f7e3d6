import { Command, Option } from 'commander';
import { acceptFindingsAs, type ChosenFinding } from '../../actions/acceptFinding.ts';
import { findingMeaning } from '../../ledger/domain/findings.ts';
import {
  FINDING_STATES,
  type FindingRow,
  type FindingState,
  searchFindings,
} from '../../ledger/read/store/findings.ts';
import { counted } from '../../platform/counted.ts';
import type { Database } from '../../platform/db/database.ts';
import { NotFoundError, UsageError } from '../../platform/errors.ts';
import { linkedPages } from '../../platform/keyset.ts';
import { detailJson } from '../../representation/detail.ts';
import { findingJson, notAcceptedText } from '../../representation/finding.ts';
import { formatTime } from '../../representation/time.ts';
import { confirm } from '../confirm.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine, printNote } from '../invocation.ts';
import { jsonOption, limitOption, readNumberOf } from '../options.ts';
import { cursorOption, type PageOptions, printSearched, searchPage } from '../paging.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { printTable } from '../table.ts';

export function findingsCommand(): Command {
  return new Command('findings').addCommand(listCommand()).addCommand(acceptCommand());
}

interface ListOptions extends PageOptions {
  readonly state: FindingState | 'any';
  readonly class?: string;
  readonly subject?: string;
}

function listCommand(): Command {
  return new Command('list')
    .description('list findings, newest first')
    .addOption(
      new Option('--state <state>', 'only findings in this state')
        .choices([...FINDING_STATES, 'any'])
        .default('open'),
    )
    .option('--class <class>', 'only findings of this class, for example over_refund')
    .option('--subject <subject>', 'only findings about this subject, for example payment:pay_1')
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0.')
    .action(({ state, class: findingClass, subject, ...page }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const filter = { state: state === 'any' ? undefined : state, findingClass, subject };
        const found = await searchPage(page, (place) => searchFindings(db, filter, place));
        printSearched(found, page, {
          name: 'findings',
          toJson: findingJson,
          print: printFindings,
          none: 'No such findings.',
        });
      }),
    );
}

function printFindings(findings: readonly FindingRow[]): void {
  printTable(
    ['NUMBER', 'CLASS', 'SUBJECT', 'STATE', 'OPEN SINCE', 'DETAIL'],
    findings.map((finding) => [
      String(finding.id),
      finding.class,
      finding.subject,
      finding.state,
      formatTime(finding.openedAt),
      JSON.stringify(detailJson(finding.detail)),
    ]),
  );
  const accepted = findings.filter(({ acceptedAt }) => acceptedAt !== null);
  for (const { id, acceptedAt, acceptedBy, acceptedReason } of accepted) {
    const who = `${acceptedBy}, ${formatTime(acceptedAt)}: ${acceptedReason}`;
    printLine(`${id} was accepted by ${who}`);
  }
  for (const name of new Set(findings.map((finding) => finding.class))) {
    printLine(`${name}: ${findingMeaning(name)}`);
  }
}

interface AcceptOptions {
  readonly reason: string;
  readonly class?: string;
  readonly yes: boolean;
  readonly by?: string;
  readonly json: boolean;
}

function acceptCommand(): Command {
  const readNumber = readNumberOf('a finding');
  return new Command('accept')
    .description('accept open findings: they no longer count as differences')
    .argument(
      '[numbers...]',
      'numbers of findings, from `tallyhook findings list`',
      (text: string, before: readonly number[] = []) => [...before, readNumber(text)],
    )
    .option('--class <class>', 'all open findings of this class, instead of numbers')
    .option('--yes', 'accept those of a class without a prompt', false)
    .addOption(reasonOption('why you accept them; recorded with your name'))
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA finding closes by itself when its cause is gone. It counts again if its details change.\n\nExit code: 0 all are accepted, 3 the class has none, 4 not confirmed, or one is not open and the others are accepted.',
    )
    .action((numbers: readonly number[], { reason, by, json, ...choice }: AcceptOptions) =>
      withDatabase(readConfig(), async (db) => {
        const findings = await chooseFindings(db, numbers, choice);
        const actor = actorOf(by);
        const { accepted, refused } = await acceptFindingsAs({ db }, actor, { findings, reason });
        if (json) {
          const notAccepted = refused.map(({ number, outcome }) => ({
            number,
            reason: notAcceptedText(number, outcome),
          }));
          printJson({ accepted, refused: notAccepted });
        } else for (const id of accepted) printLine(acceptedText(id, actor.name));
        for (const { number, outcome } of refused) printNote(notAcceptedText(number, outcome));
        if (refused.length > 0) endAs('refused');
      }),
    );
}

/**
 * @throws UsageError unless either numbers or a class is given
 * @throws NotFoundError if the class has no open finding
 */
async function chooseFindings(
  db: Database,
  numbers: readonly number[],
  { class: findingClass, yes }: Pick<AcceptOptions, 'class' | 'yes'>,
): Promise<readonly ChosenFinding[]> {
  if (numbers.length > 0 === (findingClass !== undefined)) {
    throw new UsageError('Give either the numbers of findings or --class.');
  }
  if (findingClass === undefined) return numbers.map((number) => ({ number }));
  const findings = await readOpenOf(db, findingClass);
  if (findings.length === 0) throw new NotFoundError(`No ${findingClass} finding is open.`);
  printNote(`${findingClass}: ${findingMeaning(findingClass)}`);
  await confirm(`Accept ${counted(findings.length, 'finding')}?`, yes);
  return findings;
}

const PAGE = 1_000;

/** All open findings of a class, each as it is now: one that changes before it is accepted stays open. */
async function readOpenOf(db: Database, findingClass: string): Promise<readonly ChosenFinding[]> {
  const filter = { state: 'open', findingClass, subject: undefined } as const;
  const chosen: ChosenFinding[] = [];
  const pages = linkedPages<FindingRow, number>(undefined, (below = Number.MAX_SAFE_INTEGER) =>
    searchFindings(db, filter, { below, limit: PAGE }),
  );
  for await (const rows of pages) {
    chosen.push(...rows.map(({ id, digest }) => ({ number: id, digest })));
  }
  return chosen;
}

function acceptedText(number: number, by: string): string {
  return `Finding ${number} is accepted by ${by}.`;
}
