import { randomUUID } from 'node:crypto';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { useSandboxAs } from '../../actions/useSandbox.ts';
import { sandboxShopOf } from '../../assembly/service.ts';
import { EVENT_TYPES } from '../../contract/events.ts';
import type { Purchase, Shop } from '../../demo/shop.ts';
import {
  readTriggered,
  TRIGGERED_TYPES,
  TRIGGERS,
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
import { bodyFileOption, writeEventBody } from '../bodyFile.ts';
import { printable, printJson, readConfig, withDatabase } from '../context.ts';
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
      const shop = sandboxShopOf(readConfig());
      if (!shop) throw new UsageError(NO_SANDBOX);
      return withDatabase(readConfig(), (db) => trigger({ db, shop, type }, options));
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

Exit code: 0 the sandbox sent the event, 4 it refused, 5 it does not respond.`;

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
  readonly type: TriggeredType;
}

async function trigger({ db, shop, type }: Triggering, options: TriggerOptions): Promise<void> {
  const { order: orderId = `play-${randomUUID().slice(0, 8)}`, amount, currency } = options;
  const purchase: Purchase = { orderId, amountMinor: amount, currency };
  const use = { what: `event:${type}`, orderId, detail: { amount, currency } };
  const used = await useSandboxAs(db, actorOf(options.by), use, async () => {
    const id = await TRIGGERS[type](shop, purchase);
    return { id, event: await readTriggered(shop, purchase, { id, type }) };
  });
  switch (used.outcome) {
    case 'done':
      await writeTriggeredBody(db, used.value.event, options);
      print({ type, orderId, ...used.value }, options);
      return;
    case 'refused':
      throw new OperatorError(`The sandbox refused: ${printable(used.reason)}.`);
    case 'unavailable':
      throw new UnavailableError(
        `The sandbox did not respond as expected: ${printable(used.reason)}. Does it run? \`npx tallyhook start\` starts it.`,
      );
  }
}

async function writeTriggeredBody(
  db: Database,
  event: TriggeredEvent | undefined,
  { output }: TriggerOptions,
): Promise<void> {
  if (output === undefined || event === undefined) return;
  const stored = await findEvent(db, event.eventId);
  if (!stored) {
    throw new NotFoundError(
      `${event.eventId} is not in the inbox (${event.fate}), so there is no body to write. ` +
        '`npx tallyhook events show` writes it once the event has arrived.',
    );
  }
  await writeEventBody(db, stored.id, output);
}

interface Triggered {
  readonly type: TriggeredType;
  readonly orderId: string;
  readonly id: string;
  readonly event: TriggeredEvent | undefined;
}

function print({ type, orderId, id, event }: Triggered, { json }: TriggerOptions): void {
  if (!event) throw new NotFoundError(`The sandbox recorded no ${type} of ${id}.`);
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
  printLine(`${type}  ${eventId}  ${id}  order ${printable(orderId)}  ${fate}`);
  printNote(`\`npx tallyhook orders show ${printable(orderId)}\` shows what became of it.`);
}
