import { Command } from 'commander';
import { shellWord } from '../../alerts/domain/shellWord.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import type { FoundResource } from '../../ledger/read/store/lookup.ts';
import type { EventSummary } from '../../ledger/read/store/parts.ts';
import type { Database } from '../../platform/db/database.ts';
import { NotFoundError, type OperatorError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { formatTime } from '../../representation/time.ts';
import { AMOUNT_LIMITS, describeScan, factsOf } from '../../search/facts.ts';
import { matchJson } from '../../search/matchJson.ts';
import { ID_KINDS } from '../../search/nearId.ts';
import { type Hit, search } from '../../search/search.ts';
import { searchBodies } from '../../search/searchBodies.ts';
import { clockOf, formatMicros, printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption } from '../options.ts';
import { unknownId } from '../unknownId.ts';

/** One match. */
interface Found {
  readonly what: string;
  readonly id: string;
  readonly state: string;
  /** The command that shows more; undefined if there is none. */
  readonly command: string | undefined;
}

export function findCommand(): Command {
  return new Command('find')
    .argument(
      '<text>',
      'id of an order, payment, refund, dispute, payout or event; a payout reference; a number such as ' +
        '"alert 12", of an event, alert, finding, message or run; or an amount such as "54.00 EUR"',
    )
    .option(
      '--bodies',
      'search the stored bodies for this text, the newest first, for a few seconds',
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 3 nothing was found.')
    .action((text: string, options: FindOptions) =>
      withDatabase(readConfig(), (db) => find(db, text, options)),
    );
}

interface FindOptions {
  readonly bodies?: boolean;
  readonly json?: boolean;
}

async function find(db: Database, text: string, { bodies, json }: FindOptions): Promise<void> {
  const { hits, note, isComplete, throughDay } = bodies
    ? await inBodies(db, text)
    : await named(db, text);
  if (hits.length === 0) throw bodies ? nothingIn(note) : await nothingKnown(db, text);
  if (json) {
    const matches = hits.map(matchJson);
    printJson({ matches, complete: isComplete, searched_through: throughDay });
    return;
  }
  hits.map(describe).forEach(printFound);
  if (note !== undefined) printLine(note);
}

interface Finds {
  readonly hits: readonly Hit[];
  /** What was not searched. */
  readonly note: string | undefined;
  readonly isComplete: boolean;
  /** Of bodies: the oldest day of which every one was searched. */
  readonly throughDay: string | null;
}

const MAX_PAYOUTS = 100_000;

async function named(db: Database, text: string): Promise<Finds> {
  const { hits, isComplete } = await search(db, text, { maxPayouts: MAX_PAYOUTS });
  const note = isComplete ? undefined : AMOUNT_LIMITS;
  return { hits, note, isComplete, throughDay: null };
}

async function inBodies(db: Database, text: string): Promise<Finds> {
  const clock = await clockOf(db);
  const result = await searchBodies({ db, clock }, text);
  const { hits, isComplete, throughDay } = result;
  return { hits, note: describeScan(result), isComplete, throughDay };
}

function nothingIn(note: string | undefined): OperatorError {
  return new NotFoundError(`No stored body has this text. ${note ?? ''}`.trim());
}

function describe(hit: Hit): Found {
  switch (hit.kind) {
    case 'order':
      return describeOrder(hit);
    case 'resource':
      return describeResource(hit.resource);
    case 'event':
      return describeEvent(hit.event);
    default: {
      const { kind, id, state, about } = factsOf(hit);
      const command = commandOf(hit);
      return { what: kind, id, state: [state, about].filter(Boolean).join(', '), command };
    }
  }
}

function commandOf(hit: Exclude<Hit, { readonly kind: 'order' | 'resource' | 'event' }>) {
  switch (hit.kind) {
    case 'alert':
      return `tallyhook alerts show ${hit.alert.id}`;
    case 'finding':
      return `tallyhook findings list --state any --subject ${shellWord(hit.finding.subject)}`;
    case 'message':
      return `tallyhook messages show ${hit.message.number}`;
    case 'run':
      return undefined;
  }
}

function describeOrder({ order, totals }: Hit & { readonly kind: 'order' }): Found {
  const { orderId, status, firstSeenMicros } = order;
  const captured = totals.map(
    (total) => `captured ${formatMoney(total.capturedMinor, total.currency)}`,
  );
  return {
    what: 'order',
    id: orderId,
    state: [status, ...captured, `first seen ${formatMicros(firstSeenMicros)}`].join(', '),
    command: `tallyhook orders explain ${shellWord(orderId)}`,
  };
}

function describeResource(resource: FoundResource): Found {
  const { kind, id, amountMinor, currency, paymentId, orderKey, reference } = resource;
  const reason = describeReason(kind, resource.status, resource);
  const state = [
    [resource.status ?? 'not seen yet', resource.stage].filter(Boolean).join(' at '),
    ...(amountMinor === null || currency === null ? [] : [formatMoney(amountMinor, currency)]),
    ...(paymentId === null ? [] : [`of payment ${paymentId}`]),
    ...(orderKey === null ? [] : [`in order ${orderIdOf(orderKey)}`]),
    ...(kind === 'payout' && reference !== null ? [`for ${reference}`] : []),
    ...(reason === undefined ? [] : [`reason: ${reason}`]),
    ...resource.uncertainties.map((uncertainty) => `uncertain: ${uncertainty}`),
  ];
  return {
    what: kind,
    id,
    state: state.join(', '),
    command: `tallyhook orders explain ${shellWord(id)}`,
  };
}

function describeEvent(event: EventSummary): Found {
  const { eventId, eventType, error, state, receivedAt } = event;
  const facts = [
    state.replace('_', ' '),
    eventType ?? 'no type',
    `received ${formatTime(receivedAt)}`,
    `inbox number ${event.id}`,
    ...(error === null ? [] : [error]),
  ];
  return {
    what: 'event',
    id: eventId ?? '(no envelope)',
    state: facts.join(', '),
    command: `tallyhook events show ${shellWord(eventId ?? String(event.id))}`,
  };
}

function printFound({ what, id, state, command }: Found): void {
  printLine(`${what} ${id}: ${state}`);
  if (command !== undefined) printLine(`  npx ${command}`);
}

function nothingKnown(db: Database, text: string): Promise<OperatorError> {
  return unknownId(db, {
    id: text,
    kinds: ID_KINDS,
    message:
      `Nothing is known as ${printable(text)}: no order, payment, refund, dispute, payout or event, no ` +
      'inbox number, no payout reference, no amount with a currency.',
    next:
      'Ids are case-sensitive. `--bodies` searches the stored bodies, for a name, a mail address or a ' +
      'customer. If it is new, its event may not have arrived yet: `npx tallyhook events list` shows the inbox.',
  });
}
