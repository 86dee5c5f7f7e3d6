/**
 * What a small shop leaves behind in every table: some thousand events applied by the worker's code,
 * numbered in the feed, sent to the shop and delivered. bench/growth/copies.ts copies it.
 */
import { createHash } from 'node:crypto';
import { createOrderFeed } from '../../src/ledger/read/orderFeed.ts';
import { enqueueOrderWebhooks } from '../../src/notify/orderWebhooks.ts';
import { claimMessages, settleMessages } from '../../src/notify/store/messages.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { DAY_MS } from '../../src/platform/time.ts';
import { createEventStream, type Requests } from '../events.ts';
import { applyBodies } from '../ledger/template.ts';
import { resizeBody } from './bodies.ts';

/** Those that finish its open payments come on top. */
export const TEMPLATE_EVENTS = 10_000;
const OPEN_PAYMENTS = 100;
/** Between an event and the webhook about it, others arrive. */
const BATCH = 100;
const SEED = 5;
/** Older than every copy, so that no copy of an event is received before it was sent. */
const START_DAYS_AGO = 500;
const LEASE_MS = 60_000;

/** Applies the template. Returns the part of its ids that a copy replaces. */
export async function applyTemplate(url: string, bodyBytes: number): Promise<string> {
  const stream = createEventStream(SEED, 'secret', {
    openPayments: OPEN_PAYMENTS,
    startMs: Date.now() - START_DAYS_AGO * DAY_MS,
  });
  // A service ends each payment within days; open ones of each copy would be a backlog that no shop has.
  const requests = [stream.next(TEMPLATE_EVENTS), stream.finish()];
  const bodies = requests.flatMap((one) =>
    bodiesOf(one).map((body) => resizeBody(body, bodyBytes)),
  );
  let messages = 0;
  const newMessageId = (): string => {
    messages += 1;
    // As long and as scattered as the ids of a running Tallyhook.
    const scattered = createHash('md5').update(String(messages)).digest('hex').slice(0, 26);
    return `msg_${scattered}${stream.run}`;
  };
  await applyBodies(url, bodies, BATCH, (db) => sendOrderWebhooks(db, newMessageId));
  return stream.run;
}

function bodiesOf({ bytes, starts, eventIds }: Requests): readonly Buffer[] {
  return eventIds.map((_, n) => {
    const request = bytes.subarray(starts[n], starts[n + 1]);
    return request.subarray(request.indexOf('\r\n\r\n') + 4);
  });
}

/** Enqueues the webhooks of what changed, and delivers them as the worker does, without a shop. */
async function sendOrderWebhooks(db: Database, newMessageId: () => string): Promise<void> {
  await enqueueOrderWebhooks({ db, feed: createOrderFeed(db), clock: systemClock, newMessageId });
  for (;;) {
    const nowMs = systemClock.nowMs();
    const messages = await claimMessages(db, {
      channel: 'shop',
      now: new Date(nowMs),
      leaseUntil: new Date(nowMs + LEASE_MS),
      limit: 1,
    });
    if (messages.length === 0) return;
    const end = { state: 'delivered', at: new Date(), error: null } as const;
    await settleMessages(
      db,
      messages.map(({ id }) => ({ id, ...end })),
    );
  }
}
