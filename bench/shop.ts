/** A shop that receives order webhooks, and how long these took. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../src/platform/db/database.ts';
import type { Cleanup } from './cleanup.ts';
import { type Quantiles, quantilesOf } from './quantiles.ts';

export interface Shop {
  /** Settings of a Tallyhook that sends order webhooks here. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * From the receipt of an event to that of the order webhook about it, in milliseconds. An order may
   * change once for several events; then the time is that of the event that the change names.
   */
  times(db: Pick<Database, 'query'>): Promise<Quantiles>;
  /**
   * Waits until no order webhook is due, and forgets those that came.
   * @returns how many came
   */
  drain(db: Pick<Database, 'query'>): Promise<number>;
}

const DRAIN_TIMEOUT_MS = 120_000;
const POLL_EVERY_MS = 100;

interface Body {
  readonly data: { readonly change: { readonly number: number } };
}

/** Starts a shop on a free port of 127.0.0.1. */
export async function startShop(cleanup: Cleanup): Promise<Shop> {
  const receivedMs = new Map<number, number>();
  const server = createServer((request, response) => {
    const nowMs = Date.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      if (!receivedMs.has(data.change.number)) receivedMs.set(data.change.number, nowMs);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.add(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      ORDER_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
      ORDER_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    },
    drain: async (db) => {
      const fromMs = Date.now();
      while (Date.now() - fromMs < DRAIN_TIMEOUT_MS) {
        const [row] = await db.query<{ isDue: boolean }>(
          `select exists (select from change_log)
                  or (select change_number from order_webhook_position) <
                     (select max(number) from changes)
                  or exists (select from messages where state = 'due') as "isDue"`,
        );
        if (!row?.isDue) break;
        await pause(POLL_EVERY_MS);
      }
      const count = receivedMs.size;
      receivedMs.clear();
      return count;
    },
    times: async (db) => {
      const rows = await db.query<{ number: number; receivedMs: number }>(
        `select c.number, (extract(epoch from e.received_at) * 1000)::float as "receivedMs"
           from changes c
           join webhook_events e on e.id = c.webhook_event_id
          where c.number = any ($1::bigint[])`,
        [[...receivedMs.keys()]],
      );
      return quantilesOf(rows.map((row) => (receivedMs.get(row.number) ?? 0) - row.receivedMs));
    },
  };
}
