/** Lists of all four kinds: filters, pages, envelopes, and the faults of lists. */
import {
  DEFAULT_OFFSET,
  normalizeStatus,
  PAGE_SIZE,
  type ResourceKind,
} from '../../contract/index.ts';
import { accept, type Decision, rejectState } from '../domain/decision.ts';
import type { Resource } from '../domain/resource.ts';
import { isoBound, isoTime } from '../domain/time.ts';
import type { LIST_ENVELOPES } from '../faults/settings.ts';
import { listView } from '../faults/views.ts';
import type { Services } from '../services.ts';
import type { ListFilter, ListOrder } from '../store/lists.ts';

/** The filters of all lists together; the contract's schemas decide which of them a list has. */
export interface ListInput {
  readonly kind: ResourceKind;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly customer_id?: string | undefined;
  readonly currency?: string | readonly string[] | undefined;
  readonly status?: string | readonly string[] | undefined;
  readonly refund_status?: readonly string[] | undefined;
  readonly dispute_status?: readonly string[] | undefined;
  readonly created_gte?: string | undefined;
  readonly created_lte?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly payment_id?: string | undefined;
  readonly refund_id?: string | undefined;
  readonly dispute_id?: string | undefined;
  readonly payout_id?: string | undefined;
  readonly profile_id?: string | undefined;
  readonly dispute_stage?: readonly string[] | undefined;
  readonly reason?: string | undefined;
  readonly connector?: readonly string[] | undefined;
  readonly merchant_order_reference_id?: string | undefined;
  readonly payout_method?: readonly string[] | undefined;
  readonly entity_type?: string | undefined;
  readonly amount_filter?:
    | {
        readonly start_amount?: number | undefined;
        readonly end_amount?: number | undefined;
      }
    | undefined;
}

/** One page with the envelope of its kind. service-interface.md §2.3. */
export async function listPage(services: Services, request: ListInput): Promise<Decision<object>> {
  const { clock, store, faults } = services;
  const { lists } = faults.current();
  const ignored = new Set(lists.ignored_filters);
  const { kind, ...filters } = request;
  const effective = Object.entries(filters).filter(([name]) => !ignored.has(name));
  const input: ListInput = { kind, ...Object.fromEntries(effective) };
  const filter = filterOf(input);
  const { limit = PAGE_SIZE.default } = request;
  if (limit > lists.max_limit) {
    return rejectState(422, 'IR_06', `limit should be in between 1 and ${lists.max_limit}`);
  }
  const offset = request.offset ?? DEFAULT_OFFSET;
  const salt = faults.countList();
  const asOf =
    lists.replica_lag_ms === 0 ? undefined : isoTime(clock.nowMs() - lists.replica_lag_ms);
  const order: ListOrder = lists.unstable_ties ? `${lists.sort}_unstable` : lists.sort;
  const found = await store.listResources(filter, {
    limit,
    offset,
    order,
    salt: String(salt),
    asOf,
  });
  const total = await store.countResources(filter, asOf);
  const envelope = lists.envelope ?? (request.kind === 'payment' ? 'count' : 'has_more');
  const hasMore = offset + found.length < total;
  const rows = shorten(services, {
    found,
    salt,
    revealsTotal: hasMore || ENVELOPES_WITH_TOTAL.has(envelope),
  });
  const data = rows.map((row) => listView(row, faults.context()));
  switch (envelope) {
    case 'count':
      return accept({ count: data.length, total_count: total, data });
    case 'has_more':
      return accept({ data, total_count: total, has_more: hasMore });
    case 'size':
      return accept({ size: data.length, data });
    case 'array':
      return accept(data);
  }
}

/** Envelopes that show how many rows there are in all. */
const ENVELOPES_WITH_TOTAL: ReadonlySet<(typeof LIST_ENVELOPES)[number]> = new Set([
  'count',
  'has_more',
]);

interface FoundRows {
  readonly found: readonly Resource[];
  readonly salt: number;
  /** Whether the caller can see that rows are missing; otherwise the fault would be undetectable. */
  readonly revealsTotal: boolean;
}

/** The fault of short pages: some rows are missing, different ones in each request, never all of them. */
function shorten({ faults }: Services, page: FoundRows): readonly Resource[] {
  const { found, salt, revealsTotal } = page;
  const random = faults.random();
  const isShort = revealsTotal && random('short_page', salt) < faults.current().lists.short_pages;
  if (!isShort) return found;
  return found.filter((_row, index) => index === 0 || random('short_row', salt, index) >= 1 / 4);
}

function filterOf(input: ListInput): ListFilter {
  const { kind } = input;
  const ids = {
    payment: input.payment_id,
    refund: input.refund_id,
    dispute: input.dispute_id,
    payout: input.payout_id,
  };
  const others = Object.entries({
    profile_id: input.profile_id,
    dispute_stage: input.dispute_stage,
    connector_reason: input.reason,
    connector: input.connector,
    merchant_order_reference_id: input.merchant_order_reference_id,
    payout_type: input.payout_method,
    entity_type: input.entity_type,
  }).flatMap(([name, values]) =>
    values === undefined ? [] : [[name, listOf(values) ?? []] as const],
  );
  const statuses = input.status ?? input.refund_status ?? input.dispute_status;
  const from = input.created_gte ?? input.start_time;
  const to = input.created_lte ?? input.end_time;
  return {
    kind,
    statuses: listOf(statuses)?.map((status) => normalizeStatus(kind, status)),
    currencies: listOf(input.currency),
    customerId: input.customer_id,
    id: ids[kind],
    parentId: kind === 'payment' ? undefined : input.payment_id,
    createdFrom: from && isoBound(from, Math.ceil),
    createdTo: to && isoBound(to, Math.floor),
    amountFrom: input.amount_filter?.start_amount,
    amountTo: input.amount_filter?.end_amount,
    others: others.length === 0 ? undefined : Object.fromEntries(others),
  };
}

function listOf(values: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof values === 'string' ? [values] : values;
}
