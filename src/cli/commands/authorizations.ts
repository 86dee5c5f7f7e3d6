import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type AuthorizationInput,
  type AuthorizationParts,
  type CapturedOrCanceled,
  captureOrCancelAs,
  inspectHold,
} from '../../actions/captureOrCancel.ts';
import { authorizationsOf } from '../../assembly/service.ts';
import type { AuthorizationRequest } from '../../authorizations/authorizationService.ts';
import type { Hold } from '../../authorizations/captureOrCancel.ts';
import {
  type OpenAuthorization,
  readOpenAuthorizations,
} from '../../authorizations/store/openAuthorizations.ts';
import { formatMoney } from '../../contract/money.ts';
import { CAPTURABLE_STATUSES } from '../../contract/statuses.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError, UnavailableError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { HOUR_MS } from '../../platform/time.ts';
import { authorizationJson } from '../../representation/authorization.ts';
import { timePlace } from '../../representation/cursor.ts';
import { holdText, notCapturedText, notHeldText } from '../../representation/notDone.ts';
import { formatTime, timeLeftText } from '../../representation/time.ts';
import { confirm } from '../confirm.ts';
import { clockOf, noApiKey, printJson, quiet, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption, limitOption, readMinor } from '../options.ts';
import { cursorOption, type PageOptions, placeOf, printPage } from '../paging.ts';
import { actorOf, byOption, optionalReason } from '../person.ts';
import { printTable } from '../table.ts';
import { refuseUnknownId } from '../unknownId.ts';

export function authorizationsCommand(): Command {
  return new Command('authorizations')
    .addCommand(listCommand())
    .addCommand(captureCommand())
    .addCommand(cancelCommand());
}

interface ListOptions extends PageOptions {
  readonly within?: number;
}

function listCommand(): Command {
  return new Command('list')
    .description('list authorizations that can still be captured, nearest deadline first')
    .addOption(
      new Option(
        '--within <hours>',
        'only authorizations that expire within this many hours',
      ).argParser(parseHours),
    )
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nThe scheduler updates this list every minute.\n\nExit code: 0.')
    .action(({ within, ...page }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const nowMs = (await clockOf(db)).nowMs();
        const place = placeOf(page.cursor, timePlace);
        const authorizations = await readOpenAuthorizations(db, {
          statuses: [...CAPTURABLE_STATUSES],
          after: place && { deadlineAt: new Date(place[0]), paymentId: place[1] },
          dueBefore: within === undefined ? undefined : new Date(nowMs + within * HOUR_MS),
          limit: page.limit + 1,
        });
        printPage(authorizations, page, {
          name: 'authorizations',
          placeOf: ({ deadlineAt, paymentId }) => [deadlineAt.toISOString(), paymentId],
          toJson: authorizationJson,
          print: (rows) => printAuthorizations(rows, nowMs),
          none: 'No open authorizations.',
        });
      }),
    );
}

function printAuthorizations(rows: readonly OpenAuthorization[], nowMs: number): void {
  printTable(
    ['PAYMENT', 'ORDER', 'CAPTURABLE', 'CAPTURE BEFORE', 'TIME LEFT', 'STATUS'],
    rows.map((row) => [
      row.paymentId,
      row.orderKey === null ? '-' : orderIdOf(row.orderKey),
      formatMoney(row.capturableMinor, row.currency),
      formatTime(row.deadlineAt),
      timeLeftText(row.deadlineAt.getTime() - nowMs) ?? 'past',
      row.status,
    ]),
  );
}

interface ActOptions {
  readonly amount?: number;
  readonly reason?: string;
  readonly by?: string;
  readonly yes: boolean;
  readonly json: boolean;
}

const EXIT_CODES = `
Tallyhook retrieves the payment before and after, applies the responses to the ledger, and sends the request once. While an attempt to capture or cancel has no result, there is no second one.

Exit code: 0 done, 3 there is no such payment, 4 refused or not done, 7 the outcome is unknown: check the payment before you try again.`;

function captureCommand(): Command {
  return actCommand('capture', 'capture an authorization, in full or in part')
    .addOption(
      new Option(
        '--amount <minor>',
        'amount in minor units, for example 6540 for 65.40 USD (default: the full amount)',
      ).argParser(readMinor),
    )
    .addOption(optionalReason('why you capture it; recorded with your name'));
}

function cancelCommand(): Command {
  return actCommand('cancel', 'cancel an authorization and release the hold').addOption(
    optionalReason('why you cancel it; recorded with your name, and sent to the service'),
  );
}

function actCommand(action: AuthorizationRequest['action'], description: string): Command {
  return new Command(action)
    .description(description)
    .argument('<payment-id>', 'id of the payment')
    .option('--yes', 'skip the confirmation prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', EXIT_CODES)
    .action((paymentId: string, options: ActOptions) =>
      withDatabase(readConfig(), (db) => act(db, { action, paymentId, options })),
    );
}

interface Wish {
  readonly action: AuthorizationRequest['action'];
  readonly paymentId: string;
  readonly options: ActOptions;
}

async function act(db: Database, { action, paymentId, options }: Wish): Promise<void> {
  const parts = await partsOf(db);
  const held = await mustHold(parts, paymentId);
  const { amount: amountMinor, reason, by, json, yes } = options;
  if (amountMinor !== undefined && amountMinor > held.capturableMinor) {
    throw new OperatorError(
      `At most ${holdText(held)} of ${printable(paymentId)} can be captured.`,
    );
  }
  const { currency } = held;
  const what = holdText({ capturableMinor: amountMinor ?? held.capturableMinor, currency });
  const order = held.orderKey === null ? '' : ` (order ${orderIdOf(held.orderKey)})`;
  const verb = action === 'capture' ? 'Capture' : 'Release';
  await confirm(`${verb} ${what} of ${paymentId}${order}?`, yes);
  const input = { action, paymentId, hold: held, amountMinor, reason };
  report(input, await captureOrCancelAs(parts, actorOf(by), input), json);
}

async function partsOf(db: Database): Promise<AuthorizationParts> {
  const authorizations = authorizationsOf(readConfig(), {
    db,
    clock: await clockOf(db),
    log: quiet,
    lane: 'operator',
  });
  const { service, check } = authorizations;
  if (service) return { db, service, check };
  throw noApiKey();
}

async function mustHold(parts: AuthorizationParts, paymentId: string): Promise<Hold> {
  const inspected = await inspectHold(parts, paymentId);
  switch (inspected.outcome) {
    case 'held':
      return inspected.hold;
    case 'not_retrieved':
      if (!inspected.isUnavailable) {
        await refuseUnknownId(parts.db, { kind: 'payment', id: paymentId });
      }
      throw new UnavailableError(
        `${printable(paymentId)} cannot be retrieved (${printable(inspected.reason)}). Nothing was captured or ` +
          'released, because the ledger may be out of date. Run `npx tallyhook doctor` to find the cause.',
      );
    case 'not_held':
      throw new OperatorError(notHeldText(printable(paymentId), inspected.status));
  }
}

function report(
  { action, paymentId, hold, amountMinor = hold.capturableMinor }: AuthorizationInput,
  given: CapturedOrCanceled,
  json: boolean,
): void {
  const { outcome, attempt } = given;
  if (outcome !== 'done') endAs(outcome === 'unknown' ? 'unknown' : 'refused');
  if (json) {
    printJson({
      action,
      payment_id: paymentId,
      amount: amountMinor,
      currency: hold.currency,
      outcome,
      reason: 'reason' in given ? given.reason : null,
      status: statusOf(given),
      attempt,
    });
    return;
  }
  const next = 'Run `npx tallyhook refresh` to find out.';
  const text = outcome === 'done' ? 'Done.' : notCapturedText({ paymentId, ...hold }, given, next);
  printLine(text);
  if (isNotSent(outcome)) return;
  const status = statusOf(given);
  const now =
    status === null
      ? 'The payment could not be retrieved afterwards. Run `npx tallyhook refresh` to try again.'
      : `The status at the service is ${status}.`;
  printLine(now);
}

/** The text names the reason, and the status decides nothing. */
function isNotSent(outcome: CapturedOrCanceled['outcome']): boolean {
  return ['claimed', 'changed', 'busy', 'uncertain'].includes(outcome);
}

/** The last status at the service that Tallyhook has learned, if any. */
function statusOf(given: CapturedOrCanceled): string | null {
  switch (given.outcome) {
    case 'claimed':
    case 'busy':
    case 'uncertain':
      return null;
    case 'changed':
      return given.now.outcome === 'held' ? given.now.hold.status : given.now.status;
    default:
      return given.status;
  }
}

function parseHours(text: string): number {
  const hours = Number(text);
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Give whole hours, such as 48.');
  return hours;
}
