/**
 * Trade at the sandbox, and the senders of its webhooks. The sandbox hands each webhook to this process, which
 * delivers it to one of the receivers until that receiver acknowledges it, as the service does, only sooner.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '../../src/client/index.ts';
import { SIGNATURE_HEADER } from '../../src/contract/signature.ts';
import { createSandboxControl, type SandboxControl } from '../../src/demo/control.ts';
import { type PlannedOrder, planOrders } from '../../src/demo/plan.ts';
import { playOrder } from '../../src/demo/shop.ts';
import { type Sandbox, startMemorySandbox } from '../../src/sandbox/package/startMemorySandbox.ts';

/** An address of a receiver, and when it acknowledged a delivery. */
export interface Door {
  readonly name: string;
  readonly url: string;
  readonly acknowledgedAtMs: number[];
}

export interface Load {
  readonly sandbox: Sandbox;
  readonly control: SandboxControl;
  /** Events that a receiver acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  readonly counts: { deliveries: number; refused: number; failedOrders: number };
  /** Whether receivers have acknowledged every webhook, also those that the sandbox has yet to send again. */
  isDelivered(): Promise<boolean>;
  /** Opens the doors to which webhooks go in turn. */
  deliverTo(doors: readonly Door[]): void;
  /** Places orders at a rate until it is stopped, and completes those that it began. */
  trade(ordersPerSecond: number): { stop(): Promise<void> };
  close(): Promise<void>;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1_000;
/** A receiver that cannot persist responds after ten seconds. */
const RESPONSE_TIMEOUT_MS = 15_000;
/** More orders than any drill places. */
const PLANNED = 200_000;

export async function startLoad(seed: number): Promise<Load> {
  const senders = createSenders();
  const server = await listen(senders.take);
  const { port } = server.address() as AddressInfo;
  const sandbox = await startMemorySandbox({
    webhookUrl: `http://127.0.0.1:${port}`,
    requestsPerMinute: 1_000_000,
  });
  const { baseUrl, apiKey, profileId } = sandbox;
  const control = createSandboxControl(baseUrl);
  const shop = { client: createClient({ baseUrl, apiKey }), control, profileId };
  const plan = planOrders(PLANNED, seed)[Symbol.iterator]();
  const { acknowledged, counts } = senders;
  const play = async (order: PlannedOrder): Promise<void> => {
    await playOrder(shop, order).catch(() => {
      counts.failedOrders += 1;
    });
  };
  /** Up to this event the sandbox has sent everything. */
  let sentSeq = 0;
  return {
    sandbox,
    control,
    acknowledged,
    counts,
    isDelivered: async () => {
      for (const { seq, waiting } of await control.events(sentSeq)) {
        if (waiting > 0) return false;
        sentSeq = seq;
      }
      return senders.waiting() === 0;
    },
    deliverTo: senders.deliverTo,
    trade: (ordersPerSecond) => {
      const stopping = new AbortController();
      const playing = new Set<Promise<void>>();
      const placing = (async () => {
        while (!stopping.signal.aborted) {
          const { value } = plan.next();
          if (value) {
            const played = play(value).finally(() => playing.delete(played));
            playing.add(played);
          }
          await pause(1000 / ordersPerSecond);
        }
      })();
      return {
        stop: async () => {
          stopping.abort();
          await placing;
          await Promise.all(playing);
          await sandbox.settle();
        },
      };
    },
    close: async () => {
      senders.stop();
      await sandbox.stop();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Delivers bodies, each until it is acknowledged. */
function createSenders() {
  const acknowledged = new Set<string>();
  const counts = { deliveries: 0, refused: 0, failedOrders: 0 };
  const stopping = new AbortController();
  let doors: readonly Door[] = [];
  let taken = 0;
  let waiting = 0;
  const deliverOnce = async (door: Door, body: Buffer, signature: string): Promise<boolean> => {
    counts.deliveries += 1;
    const response = await fetch(door.url, {
      method: 'POST',
      headers: { [SIGNATURE_HEADER]: signature },
      body: new Uint8Array(body),
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
    });
    await response.arrayBuffer();
    if (response.status !== 200) counts.refused += 1;
    return response.status === 200;
  };
  const deliver = async (body: Buffer, signature: string): Promise<void> => {
    const { event_id: id } = JSON.parse(body.toString()) as { readonly event_id: string };
    const turn = taken;
    taken += 1;
    waiting += 1;
    let retryMs = FIRST_RETRY_MS;
    while (!stopping.signal.aborted) {
      const door = doors[turn % doors.length];
      if (door && (await deliverOnce(door, body, signature).catch(() => false))) {
        acknowledged.add(id);
        door.acknowledgedAtMs.push(performance.now());
        break;
      }
      await pause(retryMs * (0.5 + Math.random()));
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
    }
    waiting -= 1;
  };
  return {
    acknowledged,
    counts,
    waiting: () => waiting,
    deliverTo: (opened: readonly Door[]) => {
      doors = opened;
    },
    take: (body: Buffer, signature: string) => void deliver(body, signature),
    stop: () => stopping.abort(),
  };
}

/** The address that the sandbox knows. It takes every webhook at once. */
function listen(take: (body: Buffer, signature: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      take(Buffer.concat(chunks), String(request.headers[SIGNATURE_HEADER.toLowerCase()]));
      response.end();
    });
  });
  // After a connection that is closed while it writes, the sandbox sends again a minute later.
  server.keepAliveTimeout = 0;
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
