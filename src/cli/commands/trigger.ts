import { randomUUID } from 'node:crypto';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { type SandboxUsed, useSandboxAs } from '../../actions/useSandbox.ts';
import { sandboxShopOf } from '../../assembly/service.ts';
import { sandboxOf } from '../../assembly/settings.ts';
import { EVENT_TYPES } from '../../contract/events.ts';
import type { Purchase, Shop } from '../../demo/shop.ts';
import {
  readTriggered,
  TRIGGERED_TYPES,
  TRIGGERS,
  type Triggered,
  type TriggeredEvent,
  type TriggeredType,
} from '../../demo/triggers.ts';
import { findEvent } from '../../ledger/read/store/parts.ts';
import type { Database } from '../../platform/db/database.ts';
import {
  NotFoundError,
  OperatorError,
  UnavailableError,
  UsageError,
} from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { bodyFileOption, writeEventBody } from '../bodyFile.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine, printNote } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { actorOf, byOption } from '../person.ts';
import { didYouMean } from '../suggestion.ts';

interface TriggerOptions {
  readonly order?: string;
  readonly amount: number;
  readonly currency: string;
  readonly by?: string;
  readonly output?: string;
  readonly json: boolean;
}

const MAX_AMOUNT_MINOR = 10_000_000;
const CURRENCIES = ['EUR', 'USD', 'JPY', 'KWD'];

export function triggerCommand(): Command {
  return new Command('trigger')
    .addArgument(
      new Argument('<event>', 'type of the event').choices(TRIGGERED_TYPES).argParser(readType),
    )
    .addOption(
      new Option('--order <id>', 'the order that it is about (default: a new one)').argParser(
        readOrder,
      ),
    )
    .addOption(
      new Option('--amount <minor>', 'amount of a new payment or payout, in minor units')
        .default(20_000)
        .argParser(readAmount),
    )
    .addOption(new Option('--currency <code>', 'its currency').choices(CURRENCIES).default('EUR'))
    .addOption(bodyFileOption())
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action((type: TriggeredType, options: TriggerOptions) => {
      const config = readConfig();
      const [shop, sandbox] = [sandboxShopOf(config), sandboxOf(config)];
      if (!shop || !sandbox) throw new UsageError(NO_SANDBOX);
      const { baseUrl } = sandbox;
      return withDatabase(config, (db) => trigger({ db, shop, baseUrl, type }, options));
    });
}

const NO_SANDBOX =
  'The settings name a payment service that may be real. `trigger` works with the sandbox only, because it ' +
  'moves money. Nothing was done. Start the sandbox with `npx tallyhook start` in a folder without settings.';

const NOTES = `
The sandbox does what causes the event, so that service and ledger stay equal. What the order does not have
comes first, with events of its own: a refund without a payment is preceded by a payment. With --order, it is
about the payment, refund or dispute that the order has, if its status permits.

Examples:

  tallyhook trigger payment_succeeded
  tallyhook trigger refund_failed --order ord_1001 --output event.json
  tallyhook trigger dispute_opened --amount 6540 --currency USD --json

Exit code: 0 the sandbox has the event, 4 it refused or sent another event, 5 it does not respond as it should.`;

function readType(text: string): TriggeredType {
  const type = TRIGGERED_TYPES.find((one) => one === text);
  if (type !== undefined) return type;
  if (EVENT_TYPES.some((one) => one === text)) {
    throw new InvalidArgumentError(`The sandbox has nothing that sends it. It can send: ${LIST}.`);
  }
  throw new InvalidArgumentError(didYouMean(text, TRIGGERED_TYPES) ?? `Choose from ${LIST}.`);
}

const LIST = TRIGGERED_TYPES.join(', ');

function readOrder(text: string): string {
  if (/^[\w.-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError('Give up to 40 letters, digits, points and dashes.');
}

function readAmount(text: string): number {
  const amount = Number(text);
  if (Number.isInteger(amount) && amount >= 2 && amount <= MAX_AMOUNT_MINOR) return amount;
  throw new InvalidArgumentError(
    `Give an amount in minor units from 2 to ${MAX_AMOUNT_MINOR}, such as 6540.`,
  );
}

interface Triggering {
  readonly db: Database;
  readonly shop: Shop;
  /** Of the sandbox. */
  readonly baseUrl: string;
  readonly type: TriggeredType;
}

async function trigger(
  { db, shop, baseUrl, type }: Triggering,
  options: TriggerOptions,
): Promise<void> {
  const { order: orderId = `play-${randomUUID().slice(0, 8)}`, amount, currency } = options;
  const purchase: Purchase = { orderId, amountMinor: amount, currency };
  const use = { what: `event:${type}`, orderId, detail: { amount, currency } };
  const used = await useSandboxAs(db, actorOf(options.by), use, async () => {
    const id = await TRIGGERS[type](shop, purchase);
    return { id, ...(await readTriggered(shop, purchase, { id, type })) };
  });
  if (used.outcome === 'refused') {
    throw new OperatorError(
      `The sandbox at ${baseUrl} refused: ${printable(used.reason)}. ${remedyOfRefusal(used, options)}`,
    );
  }
  if (used.outcome === 'unavailable') {
    throw new UnavailableError(explainUnavailable(used, { baseUrl, orderId }));
  }
  const { id, event } = used.value;
  if (!event) throw new OperatorError(explainOther(used.value, { id, type }));
  await writeTriggeredBody(db, event, options);
  print({ type, orderId, id, event }, options);
}

const WRONG_ADDRESS =
  'Another program may listen there: check SANDBOX_PORT, or PAYMENTS_BASE_URL if it is set.';

type Refused = Extract<SandboxUsed<unknown>, { readonly outcome: 'refused' }>;

function remedyOfRefusal({ httpStatus }: Refused, { order }: TriggerOptions): string {
  switch (httpStatus) {
    case 401:
    case 403:
      return (
        'Run the command with the settings of the sandbox, in its folder: its key is in ' +
        'PAYMENTS_API_KEY, or in the file sandbox-api-key of DATA_DIR.'
      );
    case 404:
      return WRONG_ADDRESS;
    default:
      return order === undefined
        ? 'Check --amount and --currency.'
        : 'Without --order, the event is about a new order.';
  }
}

type Unavailable = Extract<SandboxUsed<unknown>, { readonly outcome: 'unavailable' }>;

function explainUnavailable(
  { reason, httpStatus, isReached, mayHaveHappened }: Unavailable,
  { baseUrl, orderId }: { readonly baseUrl: string; readonly orderId: string },
): string {
  if (!isReached) {
    const happened = mayHaveHappened
      ? ` If it was running, the event may have happened: see \`npx tallyhook orders show ${printable(orderId)}\`.`
      : '';
    return (
      `The sandbox at ${baseUrl} does not respond: ${printable(reason)}. Start it with ` +
      `\`npx tallyhook start\`, or check SANDBOX_PORT.${happened}`
    );
  }
  const isError = httpStatus !== undefined && httpStatus >= 400;
  const remedy = isError
    ? 'It runs. Try again in a minute; if somebody set a fault of requests, end it on the page Sandbox of the console.'
    : `${WRONG_ADDRESS} A fault of requests causes it, too: end it on the page Sandbox of the console.`;
  return `What responds at ${baseUrl} does not do so as expected: ${printable(reason)}. ${remedy}`;
}

function explainOther(
  { status, types }: Triggered,
  { id, type }: { readonly id: string; readonly type: TriggeredType },
): string {
  const sent = types.length === 0 ? 'no event' : types.join(', ');
  return (
    `The sandbox has no ${type} of ${id}: its status is ${status}, with ${sent}. Some values of --amount ` +
    'choose another outcome, and a fault can restrict events to one of each type.'
  );
}

async function writeTriggeredBody(
  db: Database,
  event: TriggeredEvent,
  { output }: TriggerOptions,
): Promise<void> {
  if (output === undefined) return;
  const stored = await findEvent(db, event.eventId);
  if (!stored) {
    throw new NotFoundError(
      `${event.eventId} is not in the inbox, so there is no body to write. ${noteOf(event)} ` +
        '`npx tallyhook events show` writes it once the event has arrived.',
    );
  }
  await writeEventBody(db, stored.id, output);
}

interface Sent {
  readonly type: TriggeredType;
  readonly orderId: string;
  readonly id: string;
  readonly event: TriggeredEvent;
}

function print({ type, orderId, id, event }: Sent, { json }: TriggerOptions): void {
  const { eventId, fate } = event;
  if (json) {
    printJson({
      event_id: eventId,
      event_type: type,
      resource_id: id,
      order_id: orderId,
      delivery: fate,
    });
    return;
  }
  printLine(`${type}  ${eventId}  ${id}  order ${orderId}  ${fate}`);
  const shown = `\`npx tallyhook orders show ${orderId}\` shows what became of it.`;
  printNote(fate === 'delivered' ? shown : noteOf(event));
}

/** What to do about an event that has not arrived. */
function noteOf({ fate, refusedWith }: TriggeredEvent): string {
  switch (fate) {
    case 'refused': {
      const response = refusedWith === null ? 'there was no response' : `HTTP ${refusedWith}`;
      return `The receiver did not acknowledge it (${response}). \`npx tallyhook doctor\` names the reason.`;
    }
    case 'lost':
      return (
        'The sandbox did not send it: it has no webhook address, or a fault drops webhooks. ' +
        '`npx tallyhook reconcile` finds what it reports.'
      );
    case 'waiting':
      return 'The sandbox sends it later: a fault delays it.';
    case 'delivered':
      return 'A receiver acknowledged it: `npx tallyhook doctor` shows whether it is another one.';
  }
}
