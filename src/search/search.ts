/**
 * Finds what a text names: ids of orders and resources, of events, references of payouts, numbers of
 * alerts, findings, messages and runs, and amounts. Ids and numbers are reached by an index. Amounts have
 * none: the newest resources of each kind are searched, as by the lists.
 */
import { type AlertRow, readAlert } from '../alerts/store/alertRows.ts';
import { RESOURCE_KINDS } from '../contract/resources/index.ts';
import { orderKeysNamed } from '../ledger/domain/orderKey.ts';
import { readResourcePage } from '../ledger/read/resourceList.ts';
import { type FindingRow, readFinding } from '../ledger/read/store/findings.ts';
import {
  type FoundResource,
  findPayoutsByReference,
  findResources,
} from '../ledger/read/store/lookup.ts';
import { findOrderRows, type OrderRow } from '../ledger/read/store/orders.ts';
import {
  type EventSummary,
  findEvent,
  type OrderTotalsRow,
  readTotals,
} from '../ledger/read/store/parts.ts';
import { MAX_SCANNED } from '../ledger/read/store/resourceList.ts';
import { readConsistently } from '../ledger/store/readConsistently.ts';
import { type MessageRow, readMessageRow } from '../notify/store/messageRows.ts';
import type { Database, Queryable } from '../platform/db/database.ts';
import { type RunRow, readRun } from '../reconcile/store/runs.ts';
import { type Amount, type NumberedKind, readSearch } from './domain/query.ts';

/** One match, with what is shown of it. */
export type Hit =
  | {
      readonly kind: 'order';
      readonly order: OrderRow;
      readonly totals: readonly OrderTotalsRow[];
    }
  | { readonly kind: 'resource'; readonly resource: FoundResource }
  | { readonly kind: 'event'; readonly event: EventSummary }
  | { readonly kind: 'alert'; readonly alert: AlertRow }
  | { readonly kind: 'finding'; readonly finding: FindingRow }
  | { readonly kind: 'message'; readonly message: MessageRow }
  | { readonly kind: 'run'; readonly run: RunRow };

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Undefined if the text names no amount. */
  readonly amount: Amount | undefined;
  /** False: more matches of a reference or an amount exist than are returned. */
  readonly isComplete: boolean;
}

/** Amounts are searched among this many of the newest resources of each kind. */
export const AMOUNT_SEARCHED = MAX_SCANNED;

const MAX_OF_KIND = 20;

/** @param maxPayouts how many payouts of one reference at most */
export async function search(
  db: Database,
  text: string,
  { maxPayouts }: { readonly maxPayouts: number } = { maxPayouts: MAX_OF_KIND },
): Promise<SearchResult> {
  const query = readSearch(text);
  if (!query) return { hits: [], amount: undefined, isComplete: true };
  const { ids, numbered, amount } = query;
  const named = await readConsistently(db, async (tx) => {
    const orders = await findOrders(tx, ids);
    const resources: FoundResource[] = [];
    for (const id of ids) resources.push(...(await findResources(tx, id)));
    const payouts = await findPayoutsByReference(tx, ids[0] ?? '', {
      after: undefined,
      limit: maxPayouts + 1,
    });
    const events: EventSummary[] = [];
    for (const id of ids) events.push(...[await findEvent(tx, id)].filter(isFound));
    const counted = numbered && (await findNumbered(tx, numbered));
    return { orders, resources, payouts, events, counted };
  });
  const priced = amount ? await findAmounts(db, amount) : { resources: [], isComplete: true };
  const resources = new Map(
    [...named.resources, ...named.payouts.slice(0, maxPayouts), ...priced.resources].map((one) => [
      `${one.kind}:${one.id}`,
      one,
    ]),
  );
  const events = new Map(named.events.map((event) => [event.id, event]));
  return {
    hits: [
      ...named.orders,
      ...[...resources.values()].map((resource): Hit => ({ kind: 'resource', resource })),
      ...[...events.values()].map((event): Hit => ({ kind: 'event', event })),
      ...(named.counted ? [named.counted] : []),
    ],
    amount,
    isComplete: priced.isComplete && named.payouts.length <= maxPayouts,
  };
}

const isFound = <Value>(value: Value | undefined): value is Value => value !== undefined;

/** Orders with one of these ids, or with a payment of it that names no order. */
export async function findOrders(tx: Queryable, ids: readonly string[]): Promise<readonly Hit[]> {
  const orderKeys = [...new Set(ids.flatMap(orderKeysNamed))];
  const resource = { kinds: [], id: '' };
  const orders = await findOrderRows(tx, { orderKeys, resource });
  const totals = await readTotals(
    tx,
    orders.map(({ orderKey }) => orderKey),
  );
  return orders.map((order) => ({
    kind: 'order',
    order,
    totals: totals.filter(({ orderKey }) => orderKey === order.orderKey),
  }));
}

async function findNumbered(
  tx: Queryable,
  { kind, number }: { readonly kind: NumberedKind; readonly number: number },
): Promise<Hit | undefined> {
  switch (kind) {
    case 'alert': {
      const alert = await readAlert(tx, number);
      return alert && { kind, alert };
    }
    case 'finding': {
      const finding = await readFinding(tx, number);
      return finding && { kind, finding };
    }
    case 'message': {
      const message = await readMessageRow(tx, number);
      return message && { kind, message };
    }
    case 'run': {
      const run = await readRun(tx, number);
      return run && { kind, run };
    }
  }
}

async function findAmounts(db: Database, { amountMinor, currency }: Amount) {
  const resources: FoundResource[] = [];
  let isComplete = true;
  for (const kind of RESOURCE_KINDS) {
    const filter = { kind, currency, minMinor: amountMinor, maxMinor: amountMinor };
    const page = await readResourcePage(db, filter, { after: undefined, limit: MAX_OF_KIND });
    const rows = page.rows.map((row) => ({ ...row, seenAt: row.createdAt ?? row.firstSeenAt }));
    resources.push(...rows);
    isComplete &&= page.next === undefined;
  }
  return { resources, isComplete };
}
