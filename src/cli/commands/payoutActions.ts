/** The commands that pay a failed payout again, cancel a payout, or send its money. */
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { Command } from 'commander';
import { type ActedOnPayout, actOnPayoutAs, type PayoutAction } from '../../actions/actOnPayout.ts';
import { type PayoutParts, type RetriedAs, retryPayoutAs } from '../../actions/retryPayout.ts';
import { payoutsOf } from '../../assembly/service.ts';
import { formatMoney } from '../../contract/money.ts';
import { isUndonePayout } from '../../contract/reasons.ts';
import {
  type AccountDetailsRequest,
  accountDetailsRequest,
} from '../../contract/requests/payoutMethod.ts';
import { readListedResource } from '../../ledger/read/store/resourceList.ts';
import type { Database } from '../../platform/db/database.ts';
import { UsageError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import {
  notActedOnPayoutText,
  notRetriedText,
  paidAgainText,
} from '../../representation/payoutText.ts';
import { confirm } from '../confirm.ts';
import { clockOf, noApiKey, printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine, terminal } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { unknownId } from '../unknownId.ts';

interface Options {
  readonly reason: string;
  readonly yes: boolean;
  readonly by?: string;
  readonly json: boolean;
}

/** @param more what also ends with code 4 */
const exitCodes = (more: string): string =>
  `\nExit code: 0 done, 3 there is no such payout, 4 refused or not done${more}, 7 the outcome is unknown: the same command finds out.`;

export function payoutActionCommands(): readonly Command[] {
  return [
    retryCommand(),
    actionCommand('cancel', 'cancel a payout that has not arrived'),
    actionCommand('fulfill', 'send the money of a confirmed payout'),
  ];
}

function decidedCommand(name: string, description: string, codes = exitCodes('')): Command {
  return new Command(name)
    .description(description)
    .argument('<payout-id>', 'id of the payout')
    .addOption(reasonOption('why, for the audit log'))
    .option('--yes', 'skip the confirmation prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', codes);
}

function retryCommand(): Command {
  const codes = exitCodes(', or the new payout failed at once');
  return decidedCommand('retry', 'pay a failed payout again, by a new payout', codes)
    .option(
      '--method <file>',
      'file with the details of the account as JSON, as payout_method_data of the service; - reads standard input. Without it, the stored account of the payout is used',
    )
    .action((payoutId: string, options: Options & { readonly method?: string }) =>
      withDatabase(readConfig(), async (db) => {
        const details = options.method === undefined ? undefined : await readMethod(options.method);
        const parts = await partsOf(db);
        const seen = await mustSee(parts, payoutId, options.reason);
        const what = formatMoney(seen.amountMinor, seen.currency);
        await confirm(`Pay ${what} of ${payoutId} again?`, options.yes);
        const input = { ...seen, details };
        reportRetry(payoutId, await retryPayoutAs(parts, actorOf(options.by), input), options.json);
      }),
    );
}

/** Errors have no part of what was read: it has the number of an account. */
async function readMethod(path: string): Promise<AccountDetailsRequest> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(
      path === '-' ? await textOf(terminal().stdin) : await readFile(path, 'utf8'),
    );
  } catch {
    throw new UsageError(`The details of the account cannot be read as JSON: ${printable(path)}`);
  }
  const read = accountDetailsRequest.safeParse(parsed);
  if (read.success) return parsed as AccountDetailsRequest;
  throw new UsageError(
    'These are no details of an account. Give bank_transfer, bank_redirect or wallet with the fields of the ' +
      'service (docs/service-interface.md). Card numbers are not accepted.',
  );
}

function actionCommand(action: PayoutAction, description: string): Command {
  return decidedCommand(action, description).action((payoutId: string, options: Options) =>
    withDatabase(readConfig(), async (db) => {
      const parts = await partsOf(db);
      const seen = await mustSee(parts, payoutId, options.reason);
      const what = formatMoney(seen.amountMinor, seen.currency);
      const verb = action === 'cancel' ? 'Cancel' : 'Fulfill';
      await confirm(`${verb} ${payoutId}, ${what}?`, options.yes);
      const acted = await actOnPayoutAs(parts, actorOf(options.by), { ...seen, action });
      report({ payoutId, action }, acted, options.json);
    }),
  );
}

async function partsOf(db: Database): Promise<PayoutParts> {
  const clock = await clockOf(db);
  const service = payoutsOf(readConfig(), { db, clock });
  if (service) return { db, service };
  throw noApiKey();
}

async function mustSee({ db, service }: PayoutParts, payoutId: string, reason: string) {
  await service.refresh(payoutId);
  const row = await readListedResource(db, { kind: 'payout', id: payoutId });
  if (!row || row.amountMinor === null || row.currency === null) {
    const message = `No payout of known amount has the id ${printable(payoutId)}.`;
    throw await unknownId(db, { id: payoutId, kinds: ['payout'], message });
  }
  const { amountMinor, currency } = row;
  return { payoutId, amountMinor, currency, status: row.status ?? '', reason };
}

function reportRetry(payoutId: string, retried: RetriedAs, json: boolean): void {
  const { outcome, attempt } = retried;
  const status = outcome === 'done' ? retried.status : null;
  if (outcome !== 'done' || isUndonePayout(status)) {
    endAs(outcome === 'unknown' ? 'unknown' : 'refused');
  }
  const newId = 'payoutId' in retried ? retried.payoutId : null;
  if (json) printJson({ payout_id: payoutId, outcome, new_payout_id: newId, status, attempt });
  else if (outcome === 'done') printLine(paidAgainText(retried.payoutId, status));
  else printLine(notRetriedText(payoutId, retried));
}

function report(
  what: { readonly payoutId: string; readonly action: PayoutAction },
  acted: ActedOnPayout,
  json: boolean,
): void {
  const { outcome, attempt } = acted;
  if (outcome !== 'done') endAs(outcome === 'unknown' ? 'unknown' : 'refused');
  const status = outcome === 'done' ? acted.status : null;
  if (json) printJson({ payout_id: what.payoutId, outcome, status, attempt });
  else if (outcome === 'done') {
    printLine(`Done: the status is ${status ?? 'unknown'}.`);
  } else printLine(notActedOnPayoutText(what, acted));
}
