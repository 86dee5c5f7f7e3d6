/** Good senders beside an attack: some with connections from before it, some with a new one each time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from '../connection.ts';
import type { Requests } from '../events.ts';

export interface Deliveries {
  acknowledged: number;
  /** Other responses, broken connections and missing responses. */
  refused: number;
  /** How many were refused in which way. */
  readonly reasons: Record<string, number>;
}

type Outcome = 'acknowledged' | 'no connection' | 'closed' | 'no response' | `status ${number}`;

const createDeliveries = (): Deliveries => ({ acknowledged: 0, refused: 0, reasons: {} });

function count(deliveries: Deliveries, outcome: Outcome): void {
  if (outcome === 'acknowledged') {
    deliveries.acknowledged += 1;
    return;
  }
  deliveries.refused += 1;
  deliveries.reasons[outcome] = (deliveries.reasons[outcome] ?? 0) + 1;
}

const outcomeOf = (status: number): Outcome =>
  status === 200 ? 'acknowledged' : `status ${status}`;

export interface GoodSenders {
  readonly onOldConnections: Deliveries;
  readonly onNewConnections: Deliveries;
  /** Waits for the last responses. */
  stop(): Promise<void>;
}

const OLD_CONNECTIONS = 20;
const OLD_EVERY_MS = 100;
const NEW_EVERY_MS = 50;
const PATIENCE_MS = 10_000;

/** One delivery at a time on a connection; a lost connection is opened again. */
async function startOld(port: number, next: () => Buffer, counts: Deliveries) {
  let connection: Connection | undefined;
  let sentMs: number | undefined;
  let acknowledgeFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    acknowledgeFirst = resolve;
  });
  const end = (outcome: Outcome): void => {
    if (sentMs === undefined) return;
    sentMs = undefined;
    count(counts, outcome);
    acknowledgeFirst();
  };
  const open = async (): Promise<void> => {
    connection = await openConnection(port, {
      onReply: (status) => end(outcomeOf(status)),
      onBroken: () => {
        end('closed');
        connection = undefined;
        void open().catch(() => undefined);
      },
    });
  };
  const send = (): void => {
    if (sentMs !== undefined && performance.now() - sentMs > PATIENCE_MS) end('no response');
    if (sentMs !== undefined) return;
    sentMs = performance.now();
    if (connection) connection.send(next());
    else end('no connection');
  };
  await open();
  send();
  await first;
  const timer = setInterval(send, OLD_EVERY_MS);
  return {
    isWaiting: () => sentMs !== undefined,
    stop: () => clearInterval(timer),
    close: () => connection?.close(),
  };
}

/** A delivery on a connection of its own. */
async function deliverAlone(port: number, request: Buffer): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  let connection: Connection | undefined;
  const outcome = await new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve('no response'), PATIENCE_MS);
    openConnection(port, {
      onReply: (status) => resolve(outcomeOf(status)),
      onBroken: () => resolve('closed'),
    }).then(
      (opened) => {
        connection = opened;
        opened.send(request);
      },
      () => resolve('no connection'),
    );
  });
  clearTimeout(timer);
  connection?.close();
  return outcome;
}

/** Resolves when every old connection has had a verified delivery. */
export async function startGoodSenders(port: number, requests: Requests): Promise<GoodSenders> {
  const onOldConnections = createDeliveries();
  const onNewConnections = createDeliveries();
  let place = 0;
  const next = (): Buffer => {
    const { bytes, starts } = requests;
    place = (place + 1) % requests.eventIds.length;
    return bytes.subarray(starts[place], starts[place + 1]);
  };
  const old = await Promise.all(
    Array.from({ length: OLD_CONNECTIONS }, () => startOld(port, next, onOldConnections)),
  );
  const inFlight = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const delivery = deliverAlone(port, next()).then((outcome) => {
      count(onNewConnections, outcome);
      inFlight.delete(delivery);
    });
    inFlight.add(delivery);
  }, NEW_EVERY_MS);
  return {
    onOldConnections,
    onNewConnections,
    stop: async () => {
      clearInterval(timer);
      for (const sender of old) sender.stop();
      await Promise.all(inFlight);
      const endMs = performance.now() + PATIENCE_MS;
      while (old.some(({ isWaiting }) => isWaiting()) && performance.now() < endMs) {
        await sleep(20);
      }
      for (const sender of old) sender.close();
    },
  };
}
