/**
 * Sends prepared requests over connections with one request in flight each.
 *
 * A run without a rate sends the next request on each reply. A run with a rate sends by the clock, over 64
 * connections at first and as many as it may open while all are busy, as clients do. An event that is due
 * while all of them are busy waits, and its waiting counts as reply time.
 */
import { createHistogram } from 'node:perf_hooks';
import { type Connection, openConnection } from './connection.ts';
import type { Requests } from './events.ts';
import {
  type FromLoad,
  type Latency,
  nowMs,
  type RunRequest,
  type RunResult,
} from './loadProtocol.ts';

const FIRST_CONNECTIONS = 64;
const LAST_REPLIES_TIMEOUT_MS = 30_000;
const PACE_MS = 2;
const WATCH_MS = 5;

export interface Sending {
  readonly request: RunRequest;
  readonly requests: Requests;
  /** The first of `requests` to send. */
  readonly from: number;
  readonly report: (message: FromLoad) => void;
}

/** @returns the result and the first request that was not sent */
export async function sendRequests(
  sending: Sending,
): Promise<{ readonly result: RunResult; readonly next: number }> {
  const { request, report } = sending;
  const tally = createTally(sending);
  const supply = createSupply(sending);
  const lanes: Lane[] = [];
  /** Lanes that wait for an event to be due, and events that wait for a lane; runs with a rate. */
  const free: Lane[] = [];
  const due: number[] = [];
  let isOver = false;

  const send = (lane: Lane, dueMs: number): void => {
    const place = supply.take();
    if (place === undefined) return;
    lane.flight = { place, dueMs };
    tally.sent();
    lane.connection?.send(supply.bytesOf(place));
  };
  const sendNext = (lane: Lane): void => {
    if (isOver) return;
    if (request.ratePerSecond === undefined) send(lane, nowMs());
    else if (due.length > 0) send(lane, due.shift() ?? nowMs());
    else free.push(lane);
  };
  const openLane = async (): Promise<void> => {
    const lane: Lane = { connection: undefined, flight: undefined };
    lane.connection = await openConnection(request.port, {
      onReply: (status) => {
        const { flight } = lane;
        // A server that closes a connection before its first request sends a 408 before it closes it.
        if (!flight) return;
        lane.flight = undefined;
        tally.replied(flight, status);
        sendNext(lane);
      },
      onBroken: () => {
        if (lane.flight) tally.broken();
        remove(lanes, lane);
        remove(free, lane);
        // If the server refuses new connections, too, the results show it.
        if (!isOver) void openLane().catch(() => undefined);
      },
    });
    lanes.push(lane);
    sendNext(lane);
  };

  const hasRate = request.ratePerSecond !== undefined;
  let opened = hasRate ? Math.min(FIRST_CONNECTIONS, request.connections) : request.connections;
  for (let n = 0; n < opened; n += 1) await openLane();
  const pacer = startPacer(request.ratePerSecond, (dueMs) => {
    const lane = free.pop();
    if (lane) {
      send(lane, dueMs);
      return;
    }
    due.push(dueMs);
    if (opened === request.connections) return;
    opened += 1;
    void openLane().catch(() => undefined);
  });
  await pause(request.warmUpSeconds * 1_000);
  const endMs = nowMs() + request.seconds * 1_000;
  tally.startCounting();
  report({ type: 'counting' });
  await waitUntil(() => supply.ranOut() || nowMs() >= endMs || lanes.length === 0);
  isOver = true;
  clearInterval(pacer);
  const deadlineMs = nowMs() + LAST_REPLIES_TIMEOUT_MS;
  await waitUntil(() => tally.inFlight() === 0 || nowMs() > deadlineMs);
  for (const { connection } of lanes) connection?.close();
  return { next: supply.next(), result: tally.result(supply.ranOut()) };
}

interface Flight {
  readonly place: number;
  readonly dueMs: number;
}

/** A connection and what is in flight on it. */
interface Lane {
  /** Undefined while it is being opened. */
  connection: Connection | undefined;
  flight: Flight | undefined;
}

function remove(lanes: Lane[], lane: Lane): void {
  const place = lanes.indexOf(lane);
  if (place !== -1) lanes.splice(place, 1);
}

/** Hands out the prepared requests in their order. */
function createSupply({ request, requests, from }: Sending) {
  const { bytes, eventIds, starts } = requests;
  let next = from;
  let isEmpty = false;
  return {
    take: (): number | undefined => {
      if (next === eventIds.length && request.repeat) next = 0;
      isEmpty = next === eventIds.length;
      if (isEmpty) return undefined;
      next += 1;
      return next - 1;
    },
    bytesOf: (place: number): Buffer => bytes.subarray(starts[place], starts[place + 1]),
    ranOut: () => isEmpty,
    next: () => next,
  };
}

/** Counts what was sent and what came back. */
function createTally({ request, requests, report }: Sending) {
  const replies = createReplyTimes();
  const refusals = createReplyTimes();
  const refused: Record<string, number> = {};
  let [sent, acknowledged, counted, broken, inFlight] = [0, 0, 0, 0, 0];
  let startMs: number | undefined;
  let lastReplyMs = 0;

  const count = ({ place, dueMs }: Flight): void => {
    lastReplyMs = nowMs();
    counted += 1;
    replies.record(lastReplyMs - dueMs);
    if (request.sampleEvery > 0 && counted % request.sampleEvery === 0) {
      report({ type: 'sample', eventId: requests.eventIds[place] ?? '', atMs: lastReplyMs });
    }
  };

  return {
    sent: () => {
      sent += 1;
      inFlight += 1;
    },
    replied: (flight: Flight, status: number) => {
      inFlight -= 1;
      if (status !== 200) {
        refused[status] = (refused[status] ?? 0) + 1;
        if (startMs !== undefined) refusals.record(nowMs() - flight.dueMs);
        return;
      }
      acknowledged += 1;
      if (startMs !== undefined) count(flight);
    },
    broken: () => {
      broken += 1;
      inFlight -= 1;
    },
    inFlight: () => inFlight,
    startCounting: () => {
      startMs = nowMs();
    },
    result: (ranOut: boolean): RunResult => ({
      sent,
      acknowledged,
      counted,
      countedSeconds: (lastReplyMs - (startMs ?? lastReplyMs)) / 1_000,
      refused,
      broken: broken + inFlight,
      ranOut,
      replyMicros: replies.latency(),
      refusalMicros: refusals.latency(),
    }),
  };
}

function createReplyTimes() {
  const micros = createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
  return {
    record: (ms: number): void => micros.record(Math.max(1, Math.round(ms * 1_000))),
    latency: (): Latency => ({
      p50: micros.percentile(50),
      p99: micros.percentile(99),
      max: micros.count === 0 ? 0 : micros.max,
    }),
  };
}

/** Calls `onDue` when each event of a steady rate is due. */
function startPacer(
  ratePerSecond: number | undefined,
  onDue: (dueMs: number) => void,
): NodeJS.Timeout | undefined {
  if (ratePerSecond === undefined) return undefined;
  const startMs = nowMs();
  let made = 0;
  return setInterval(() => {
    const now = nowMs();
    for (; made < ((now - startMs) / 1_000) * ratePerSecond; made += 1) onDue(now);
  }, PACE_MS);
}

function pause(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(WATCH_MS);
}
