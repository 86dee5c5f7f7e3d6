import { Command } from 'commander';
import { type ErasedAs, type ErasurePlan, eraseAs, planErasure } from '../../actions/eraseData.ts';
import { matcherOf } from '../../erasure/copies.ts';
import {
  type ErasureSubject,
  type SubjectKind,
  subjectText,
} from '../../erasure/domain/subjects.ts';
import { type Proof, prove } from '../../erasure/erase.ts';
import { type ErasureRow, readErasures } from '../../erasure/store/erasures.ts';
import { counted } from '../../platform/counted.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { NotFoundError, UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { erasureJson } from '../../representation/erasure.ts';
import { formatTime } from '../../representation/time.ts';
import { findNearId, type IdKind } from '../../search/nearId.ts';
import { confirm } from '../confirm.ts';
import { printJson, readConfig, readInput, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { newestFirstCommand } from '../newestFirst.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { withProgress } from '../progress.ts';
import { printTable } from '../table.ts';

export function eraseCommand(): Command {
  return new Command('erase')
    .option(
      '--order <id>',
      'an order, with its payments, refunds and disputes; repeatable',
      add,
      [],
    )
    .option(
      '--payment <id>',
      'a payment with its refunds and disputes, or a payout; repeatable',
      add,
      [],
    )
    .option('--customer <id>', 'every payment and payout of a customer; repeatable', add, [])
    .option('--customers-from <file>', 'customer ids, one a line; - reads standard input')
    .addOption(reasonOption('why you erase; recorded with your name'))
    .option('--yes', 'erase without a prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action((options: EraseOptions) => runErase(options));
}

export function erasuresCommand(): Command {
  return new Command('erasures').addCommand(listCommand()).addCommand(checkCommand());
}

const ID_KINDS_OF: Readonly<Record<SubjectKind, readonly IdKind[]>> = {
  order: ['order'],
  payment: ['payment', 'payout'],
  customer: [],
};
const MAX_NAMED = 5;

/** A shorter value is in too many texts. */
const MIN_SEARCHED = 4;

const HELP = `
Shows what it would erase, and prompts. Money, statuses and ids stay. If it is interrupted, a process with
the role \`scheduler\` continues the request; running the command again does as well.
Reads every stored body, once for orders and payments and twice for customers: erase many at once.

Exit code: 0 erased and nothing found afterwards, 3 nothing is known of them, 4 not confirmed, 6 events wait, or values are left.`;

interface EraseOptions {
  readonly order: readonly string[];
  readonly payment: readonly string[];
  readonly customer: readonly string[];
  readonly customersFrom?: string;
  readonly reason: string;
  readonly yes: boolean;
  readonly by?: string;
  readonly json: boolean;
}

function add(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function runErase(options: EraseOptions): Promise<void> {
  const subjects = await subjectsOf(options);
  const { reason } = options;
  if (subjects.length === 0) {
    throw new UsageError('Name what to erase: --order, --payment, --customer or --customers-from.');
  }
  await withDatabase(readConfig(), async (db) => {
    const actor = actorOf(options.by);
    const plan = await withProgress((onProgress) => planErasure({ db, onProgress }, subjects));
    const unknown = plan.unknown.length === 0 ? undefined : await namesOf(db, plan.unknown);
    if (plan.unknown.length === subjects.length && plan.running === undefined) {
      throw new NotFoundError(
        `Nothing is known of ${unknown}. Ids are case-sensitive. Nothing was erased.`,
      );
    }
    if (!options.json) printPlan(plan, { subjects: subjects.length, unknown });
    await confirm('Erase this? It cannot be undone.', options.yes);
    const erased = await withProgress((onProgress) =>
      eraseAs({ db, onProgress }, actor, { plan, reason }),
    );
    if (options.json) printJson(resultJson(erased, plan.unknown));
    else printResult(erased);
    if (erased.outcome !== 'erased' || erased.proof.places.length > 0) endAs('differences');
  });
}

/** The names of unknown subjects; the first ones have a suggestion where another id is near. */
async function namesOf(db: Queryable, unknown: readonly ErasureSubject[]): Promise<string> {
  const names: string[] = [];
  for (const { kind, id } of unknown.slice(0, MAX_NAMED)) {
    const near = await findNearId(db, id, ID_KINDS_OF[kind]);
    const suggestion = near === undefined ? '' : ` (did you mean ${near}?)`;
    names.push(`${kind} ${id}${suggestion}`);
  }
  const others = unknown.length - names.length;
  return others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} more`;
}

async function subjectsOf(options: EraseOptions): Promise<readonly ErasureSubject[]> {
  const { order, payment, customer, customersFrom } = options;
  const listed = customersFrom === undefined ? [] : await linesOf(customersFrom);
  const of = (kind: SubjectKind, ids: readonly string[]) =>
    [...new Set(ids.map((id) => id.trim()))]
      .filter((id) => id !== '')
      .map((id): ErasureSubject => ({ kind, id }));
  return [
    ...of('order', order),
    ...of('payment', payment),
    ...of('customer', [...customer, ...listed]),
  ];
}

interface Named {
  /** How many. */
  readonly subjects: number;
  /** Names of those of which nothing is known. */
  readonly unknown: string | undefined;
}

function printPlan(plan: ErasurePlan, { subjects, unknown }: Named): void {
  const { resources, events, values, state, running } = plan;
  const kinds = Object.entries(resources).map(([kind, count]) => counted(count, kind));
  if (running) printLine(`Request ${running.id} was interrupted and is continued.`);
  printLine(`To erase, of ${subjects} named: ${kinds.join(', ') || 'no resource of the ledger'}.`);
  printLine(`  The bodies of ${counted(events, 'event')}, which cannot be replayed afterwards.`);
  printLine(
    `  Every table is searched for ${counted(values, 'value')} such as names and addresses.`,
  );
  printLine('  Amounts, statuses and ids stay.');
  if (state.pending.length > 0) {
    printLine(
      `  The bodies of ${counted(state.pending.length, 'event')} that are not applied yet wait until then.`,
    );
  }
  if (state.dead.length > 0) {
    printLine(
      `  Could not be applied: ${counted(state.dead.length, 'event')}, which cannot be replayed afterwards. Run ` +
        '`npx tallyhook events replay --dead` first.',
    );
  }
  if (unknown !== undefined) printLine(`  Nothing is known of ${unknown}.`);
}

function printResult(erased: ErasedAs): void {
  switch (erased.outcome) {
    case 'busy':
      printLine(
        `Another process is working on request ${erased.id}. \`npx tallyhook erasures list\` shows when it is done.`,
      );
      return;
    case 'waiting':
      printLine(
        `Request ${erased.id} is not done: it waits until ${counted(erased.pending.length, 'event')} ${erased.pending.length === 1 ? 'is' : 'are'} applied. The ` +
          'scheduler continues it every ten minutes. Or run the same command again when ' +
          '`npx tallyhook events list --state pending` shows none of them.',
      );
      return;
    case 'erased':
      printLine(
        `Request ${erased.id} is done: ${erased.request?.bodies ?? 0} bodies and ` +
          `${erased.request?.texts ?? 0} texts are erased.`,
      );
      printProof(erased.proof);
  }
}

function printProof({ places, events, unreadable, toVacuum }: Proof): void {
  if (places.length === 0) {
    printLine('Proof: a search of every table found none of the values.');
  } else {
    printLine('Values are left in:');
    for (const { table, rows } of places) printLine(`  ${table}: ${counted(rows, 'row')}`);
  }
  if (events.length > 0) {
    printLine(
      `Other events have the same values, perhaps of payments without the customer's id: ${events.join(', ')}. ` +
        'Look with `npx tallyhook events show NUMBER`, and erase their payments.',
    );
  }
  if (unreadable.length > 0) {
    printLine(
      `Not searched, because the database role may not read them: ${unreadable.join(', ')}. Run ` +
        '`npx tallyhook erasures check` as the owner of the database.',
    );
  }
  if (toVacuum.length > 0) {
    printLine(
      'Earlier versions of rows stay in the files of the database until vacuum: ' +
        `vacuum (analyze) ${toVacuum.join(', ')}.`,
    );
  }
}

function resultJson(erased: ErasedAs, unknown: readonly ErasureSubject[]) {
  const { id, outcome, request } = erased;
  return {
    number: id,
    outcome,
    unknown_subjects: unknown.map(subjectText),
    request: request ? erasureJson(request) : null,
    pending_events: erased.outcome === 'waiting' ? erased.pending : null,
    proof: erased.outcome === 'erased' ? proofJson(erased.proof) : null,
  };
}

function proofJson({ places, events, unreadable, toVacuum }: Proof) {
  return {
    places: places.map(({ table, rows }) => ({ table, rows })),
    events,
    unreadable_tables: unreadable,
    to_vacuum: toVacuum,
  };
}

function listCommand(): Command {
  return newestFirstCommand({
    description: 'list requests for erasure, newest first',
    read: readErasures,
    name: 'erasures',
    toJson: erasureJson,
    print: printErasures,
    none: 'No requests.',
  });
}

function printErasures(rows: readonly ErasureRow[]): void {
  printTable(
    ['NUMBER', 'STATE', 'REQUESTED', 'BY', 'BODIES', 'TEXTS', 'LEFT', 'SUBJECTS'],
    rows.map((row) => [
      String(row.id),
      row.state,
      formatTime(row.requestedAt),
      row.requestedBy,
      String(row.bodies),
      String(row.texts),
      row.remaining === null ? '-' : String(row.remaining),
      row.subjects.length > 3 ? `${row.subjects.length} subjects` : row.subjects.join(' '),
    ]),
  );
}

function checkCommand(): Command {
  return new Command('check')
    .description('search every table for values, such as the mail address of an erased person')
    .argument('[values...]', 'values to search for')
    .option('--values-from <file>', 'values, one a line; - reads standard input')
    .addOption(jsonOption())
    .addHelpText('after', '\nChanges nothing. Exit code: 0 nothing found, 6 found.')
    .action((given: readonly string[], options: CheckOptions) => runCheck(given, options));
}

interface CheckOptions {
  readonly valuesFrom?: string;
  readonly json: boolean;
}

async function runCheck(
  given: readonly string[],
  { valuesFrom, json }: CheckOptions,
): Promise<void> {
  const listed = valuesFrom === undefined ? [] : await linesOf(valuesFrom);
  const values = [...given, ...listed].map((value) => value.trim()).filter((value) => value !== '');
  const [short] = values.filter((value) => value.length < MIN_SEARCHED);
  if (values.length === 0) throw new UsageError('Name a value, or use --values-from.');
  if (short !== undefined) {
    throw new UsageError(`A value needs ${MIN_SEARCHED} characters or more: ${printable(short)}`);
  }
  const person = { ids: new Set<string>(), values: new Map(values.map((one) => [one, true])) };
  await withDatabase(readConfig(), async (db) => {
    const found = await withProgress((onProgress) =>
      prove({ db, onProgress }, matcherOf([person])),
    );
    const proof = { ...found, toVacuum: [] };
    if (json) printJson(proofJson(proof));
    else printProof(proof);
    if (proof.places.length > 0) endAs('differences');
  });
}

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readInput(file)).toString('utf8').split(/\r?\n/);
}
