/**
 * What the receiver spends on requests before their signatures are verified: connections, memory for
 * bodies and replies. The rules are in `domain/`; this file applies them to sockets and requests.
 *
 * A sender is verified if the last verified delivery of its connection came from the same client. A
 * connection from a trusted proxy carries the requests of many clients, and a delivery of one of them
 * must not give its rights to another.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  addressGroup,
  clientAddress,
  peerAddress,
  type TrustedProxies,
} from '../platform/clientAddress.ts';
import { monotonicMs } from '../platform/clock.ts';
import {
  type BodyBudget,
  type BodyLimits,
  type BodyOrigin,
  createBodyBudget,
} from './domain/bodyBudget.ts';
import {
  CLOSING_REASONS,
  type ConnectionLimits,
  createConnectionTable,
  type Enforcement,
} from './domain/connectionTable.ts';
import { createReplyPace } from './domain/replyPace.ts';

/** A body that is being read. */
export interface OpenBody {
  readonly refuse: () => void;
}

export interface Guard {
  /** Adds a new connection to the table, and has others closed if there are too many. */
  admit(socket: Socket): void;
  /**
   * Counts a request until its response ends.
   * @returns false if the connection was closed, because it sends requests without waiting for responses
   */
  begin(request: IncomingMessage, response: ServerResponse): boolean;
  originOf(request: IncomingMessage): BodyOrigin;
  /** Records that a request had a valid signature. */
  verified(request: IncomingMessage): void;
  readonly bodies: BodyBudget<OpenBody>;
  /** How long to delay the reply to a request that was not verified, in milliseconds. */
  replyDelayMs(request: IncomingMessage): number;
}

/** Why a connection was closed. */
export const CONNECTION_CLOSED_REASONS = [...CLOSING_REASONS, 'pipelining'] as const;

type ConnectionClosedReason = (typeof CONNECTION_CLOSED_REASONS)[number];

export interface GuardParts {
  readonly maxBodyBytes: number;
  readonly trustedProxies: TrustedProxies;
  readonly connectionClosed: (reason: ConnectionClosedReason) => void;
  /** Replace the limits of production, for tests. */
  readonly connections?: ConnectionLimits;
  readonly bodies?: BodyLimits;
}

const CONNECTIONS: ConnectionLimits = {
  unverified: 500,
  unverifiedPerAddress: 250,
  verified: 1_000,
};

/** Requests of an unverified connection that may wait for their responses; common clients send one. */
const MAX_PIPELINED = 8;

const MIN_BUDGET_BYTES = 8 * 1024 * 1024;
const BUDGET_IN_BODIES = 4;

/** Each limit has room for several bodies of the largest size. */
function bodyLimits(maxBodyBytes: number): BodyLimits {
  const budgetBytes = Math.max(MIN_BUDGET_BYTES, BUDGET_IN_BODIES * maxBodyBytes);
  return {
    unverifiedBytes: budgetBytes,
    unverifiedBytesPerAddress: budgetBytes / 2,
    verifiedBytes: 2 * budgetBytes,
  };
}

export function createGuard(parts: GuardParts): Guard {
  const { trustedProxies, connections = CONNECTIONS } = parts;
  const table = createConnectionTable<Socket>(connections);
  let isScheduled = false;
  const inFlight = new WeakMap<Socket, number>();
  const provenBy = new WeakMap<Socket, string>();
  const bodies = createBodyBudget<OpenBody>(parts.bodies ?? bodyLimits(parts.maxBodyBytes));
  const replyDelayMs = createReplyPace({ perSecond: 200, burst: 200, maxDelayMs: 2_000 });

  const enforce = (): void => {
    isScheduled = false;
    for (const { connection, reason } of table.enforce()) {
      parts.connectionClosed(reason);
      // A reset: the kernel keeps nothing of the connection, which a peer may leave half open.
      connection.resetAndDestroy();
    }
  };
  const enforceWhen = (enforcement: Enforcement): void => {
    if (enforcement === 'now') enforce();
    if (enforcement !== 'soon' || isScheduled) return;
    isScheduled = true;
    // Between two turns of the event loop, what has arrived on new connections is read.
    setImmediate(() => setImmediate(enforce));
  };
  /** Needed three times: for its body, once it is verified, and for its reply. */
  const groups = new WeakMap<IncomingMessage, string>();
  const groupOf = (request: IncomingMessage): string => {
    const known = groups.get(request);
    if (known !== undefined) return known;
    const group = addressGroup(clientAddress(request, trustedProxies));
    groups.set(request, group);
    return group;
  };
  const originOf = (request: IncomingMessage): BodyOrigin => {
    const address = groupOf(request);
    const { socket } = request;
    return { address, isVerified: table.isVerified(socket) && provenBy.get(socket) === address };
  };

  return {
    admit: (socket) => {
      const peer = peerAddress(socket);
      socket.once('close', () => table.remove(socket));
      enforceWhen(table.add(socket, trustedProxies.has(peer) ? undefined : addressGroup(peer)));
    },
    begin: ({ socket }, response) => {
      // The rest of what was read is parsed after the connection is closed.
      if (socket.destroyed) return false;
      const count = (inFlight.get(socket) ?? 0) + 1;
      if (count > MAX_PIPELINED && !table.isVerified(socket)) {
        parts.connectionClosed('pipelining');
        socket.resetAndDestroy();
        return false;
      }
      inFlight.set(socket, count);
      response.once('close', () => inFlight.set(socket, (inFlight.get(socket) ?? 1) - 1));
      return true;
    },
    originOf,
    verified: (request) => {
      provenBy.set(request.socket, groupOf(request));
      enforceWhen(table.verify(request.socket));
    },
    bodies,
    replyDelayMs: (request) => (originOf(request).isVerified ? 0 : replyDelayMs(monotonicMs())),
  };
}
