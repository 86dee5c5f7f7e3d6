/** Holds what changed last at the service against the ledger, and shows what became of each webhook. */
import type { ResourceKind } from '../contract/resources/index.ts';
import { type ListedResource, readListedResources } from '../ledger/read/store/resourceList.ts';
import type { Database } from '../platform/db/database.ts';
import { sleep } from '../platform/sleep.ts';
import { differencesOf } from './compare.ts';
import type { RecentResource, SandboxControl } from './control.ts';
import type { Seen } from './scenarios.ts';

export interface Watched {
  readonly kind: ResourceKind;
  readonly id: string;
  /** The shop's id of the order; a payout's reference. */
  readonly orderId: string | null;
  readonly service: ServiceSide;
  /** Undefined: the ledger does not know it. */
  readonly ledger: ListedResource | undefined;
  /** For people; empty if both sides are equal. */
  readonly differences: readonly string[];
  readonly webhooks: readonly Webhook[];
}

export interface ServiceSide {
  readonly status: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Payments: what was captured. */
  readonly capturedMinor: number | undefined;
}

export interface Webhook {
  readonly type: string;
  readonly fate: 'lost' | 'waiting' | 'refused' | 'delivered';
  /** Deliveries that were acknowledged. */
  readonly acknowledged: number;
  /** The status of the last delivery that was not acknowledged; null if there was no response. */
  readonly refusedWith: number | null;
}

/** @param wanted `orderId`: only of this order */
export async function watchRecent(
  { control, db }: { readonly control: SandboxControl; readonly db: Database },
  wanted: { readonly orderId?: string | undefined; readonly limit: number },
): Promise<readonly Watched[]> {
  const recent = await control.recent(wanted);
  const rows = await readListedResources(db, recent);
  const known = new Map(rows.map((row) => [`${row.kind}:${row.id}`, row]));
  return recent.map((one) => {
    const ledger = known.get(`${one.kind}:${one.id}`);
    return {
      kind: one.kind,
      id: one.id,
      orderId: one.order_id,
      service: sideOf(one),
      ledger,
      differences: differencesOf(one.kind, one.resource, ledger),
      webhooks: one.events.map(webhookOf),
    };
  });
}

/** How long a scenario waits for the ledger: without an events worker it goes on all the same. */
const SEEN_WITHIN_MS = 5_000;
const POLL_MS = 100;
const NEVER_ABORTED = new AbortController().signal;

/** Waits until the ledger has a resource in a status, at most five seconds. */
export function createSeen(db: Database): Seen {
  return async (kind, id, status) => {
    for (let waitedMs = 0; waitedMs < SEEN_WITHIN_MS; waitedMs += POLL_MS) {
      const [row] = await readListedResources(db, [{ kind, id }]);
      if (row?.status === status) return;
      await sleep(POLL_MS, NEVER_ABORTED);
    }
  };
}

function sideOf({ kind, resource }: RecentResource): ServiceSide {
  const status = String(resource.dispute_status ?? resource.status ?? '');
  return {
    status: status.replace(/^dispute_/, ''),
    amountMinor: Number(resource.amount),
    currency: String(resource.currency),
    capturedMinor: kind === 'payment' ? Number(resource.amount_received ?? 0) : undefined,
  };
}

export function webhookOf({
  event_type: type,
  deliveries,
}: RecentResource['events'][number]): Webhook {
  const isAcknowledged = (status: number | null) =>
    status !== null && status >= 200 && status < 300;
  const sent = deliveries.filter((delivery) => delivery.sent !== null);
  const refused = sent.filter((delivery) => !isAcknowledged(delivery.http_status));
  const acknowledged = sent.length - refused.length;
  const isWaiting = sent.length < deliveries.length;
  return {
    type,
    fate: fateOf({ acknowledged, isWaiting, isRefused: refused.length > 0 }),
    acknowledged,
    refusedWith: refused.at(-1)?.http_status ?? null,
  };
}

function fateOf(facts: {
  readonly acknowledged: number;
  readonly isWaiting: boolean;
  readonly isRefused: boolean;
}): Webhook['fate'] {
  if (facts.acknowledged > 0) return 'delivered';
  if (facts.isRefused) return 'refused';
  return facts.isWaiting ? 'waiting' : 'lost';
}
