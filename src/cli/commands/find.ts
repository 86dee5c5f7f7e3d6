import { Command } from 'commander';
import { shellWord } from '../../alerts/domain/shellWord.ts';
import { formatMoney } from '../../contract/money.ts';
import { describeReason } from '../../contract/reasons.ts';
import { orderIdOf, orderKeysNamed } from '../../ledger/domain/orderKey.ts';
import {
  type FoundResource,
  findPayoutsByReference,
  findResources,
} from '../../ledger/read/store/lookup.ts';
import { readRowsOf } from '../../ledger/read/store/orders.ts';
import { type EventSummary, findEvent, readTotals } from '../../ledger/read/store/parts.ts';
import { readConsistently } from '../../ledger/store/readConsistently.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { OperatorError } from '../../platform/errors.ts';
import { formatTime } from '../../representation/time.ts';
import { formatMicros, printable, printJson, readConfig, withDatabase } from '../context.ts';
import { jsonOption } from '../options.ts';
import { readToEnd } from '../paging.ts';

/** One match of an id. */
interface Found {
  readonly what: string;
  readonly id: string;
  readonly state: string;
  /** The command that shows more. */
  readonly command: string;
}

export function findCommand(): Command {
  return new Command('find')
    .argument(
      '<id>',
      'id of an order, payment, refund, dispute, payout or event; an inbox number; or a payout reference',
    )
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 found, 1 nothing has this id.')
    .action((id: string, { json }: { readonly json: boolean }) =>
      withDatabase(readConfig(), async (db) => {
        const found = await findEverything(db, id);
        if (found.length === 0) throw nothingKnown(id);
        if (json) printJson({ matches: found });
        else found.forEach(printFound);
      }),
    );
}

function findEverything(db: Database, id: string): Promise<readonly Found[]> {
  return readConsistently(db, async (tx) => [
    ...(await findOrders(tx, id)),
    ...(await findResources(tx, id)).map(describeResource),
    ...(await findPayouts(tx, id)),
    ...(await findEvents(tx, id)),
  ]);
}

async function findOrders(tx: Queryable, id: string): Promise<readonly Found[]> {
  const orders = await readRowsOf(tx, orderKeysNamed(id));
  const totals = await readTotals(
    tx,
    orders.map(({ orderKey }) => orderKey),
  );
  return orders.map(({ orderKey, orderId, status, firstSeenMicros }) => {
    const captured = totals
      .filter((total) => total.orderKey === orderKey)
      .map((total) => `captured ${formatMoney(total.capturedMinor, total.currency)}`);
    return {
      what: 'order',
      id: orderId,
      state: [status, ...captured, `first seen ${formatMicros(firstSeenMicros)}`].join(', '),
      command: `tallyhook orders explain ${shellWord(orderId)}`,
    };
  });
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

async function findPayouts(tx: Queryable, reference: string): Promise<readonly Found[]> {
  const payouts = await readToEnd((last: FoundResource | undefined, limit) =>
    findPayoutsByReference(tx, reference, { after: last?.id, limit }),
  );
  return payouts.filter(({ id }) => id !== reference).map(describeResource);
}

async function findEvents(tx: Queryable, id: string): Promise<readonly Found[]> {
  const event = await findEvent(tx, id);
  return event ? [describeEvent(event)] : [];
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
  console.log(printable(`${what} ${id}: ${state}`));
  console.log(printable(`  npx ${command}`));
}

function nothingKnown(id: string): OperatorError {
  return new OperatorError(
    `Nothing is known as ${printable(id)}: no order, payment, refund, dispute, payout or event, no ` +
      'inbox number, and no payout reference. Ids are case-sensitive. If it is new, its event may not ' +
      'have arrived yet: `npx tallyhook events list` shows the inbox.',
  );
}
