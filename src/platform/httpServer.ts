/**
 * An HTTP server with limits on time and connections that shuts down without dropping a request. Every
 * response has strict headers, also if its handler fails. A handler sets one of them only to replace it.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import { type AddressInfo, isIPv6, type Socket } from 'node:net';
import { OperatorError, UsageError } from './errors.ts';

/** The configured port is in use by another process. */
export class PortInUse extends OperatorError {}

export interface HttpServer {
  /** The port it listens on: the configured one, or a free one for 0. */
  readonly port: number;
  /** From now on each response ends its connection, so that clients continue at another server. */
  drain(): void;
  /** Stops accepting connections and resolves when every request in flight has its response. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: RequestListener;
  /** What requests and responses are made of; undefined: the classes of Node.js. */
  readonly classes?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;
  /** The setting that an error names when the port is in use. */
  readonly portSetting: string;
  /** The setting that an error names when the host is not an address of this machine; undefined where no setting chooses it. */
  readonly hostSetting?: string;
  /** Is given every new connection and closes what is too much; undefined: a fixed number may be open. */
  readonly admit?: (socket: Socket) => void;
  /** The handler itself calls `writeContinue` for a request with `Expect: 100-continue`. */
  readonly handlesContinue?: boolean;
  /**
   * A client that ends its side of the connection after a complete request gets its response; otherwise Node.js
   * ends the connection at once. Not for responses that take long: a client that is gone is noticed only by a write.
   */
  readonly respondsToHalfClosed?: boolean;
  /** What a request moves must be recorded before the process ends, so a closing server waits longer for responses. */
  readonly finishesRequests?: boolean;
}

const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** The URL at which this machine reaches a server on `host`, which may be a wildcard address. */
export function localUrl(host: string, port: number): string {
  const reached = WILDCARDS.includes(host) ? '127.0.0.1' : host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Timeouts are noticed this much later at most. */
const TIMEOUT_CHECK_MS = 2_000;
const MAX_HEADERS = 100;
/** Longer than the idle timeout of common load balancers, so that they close a connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_CONNECTIONS = 2_000;
/** Connections that the kernel holds until they are accepted; beyond it senders wait a second to retry. */
const BACKLOG = 2_048;

/** Responses contain financial data: they must not be cached, sniffed or framed. */
const STRICT_HEADERS = new Map([
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
]);

/**
 * Starts listening.
 * @throws OperatorError when the port is in use or not permitted, or the host is not an address of this machine
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  let isDraining = false;
  const open: OpenConnections = { sockets: new Set(), inFlight: new Set() };
  const handler: RequestListener = (request, response) => {
    open.inFlight.add(request);
    response.once('close', () => open.inFlight.delete(request));
    response.setHeaders(STRICT_HEADERS);
    if (isDraining) response.setHeader('Connection', 'close');
    options.handler(request, response);
  };
  const server = createServer(
    {
      ...options.classes,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: 16 * 1024,
    },
    handler,
  );
  server.maxHeadersCount = MAX_HEADERS;
  Object.assign(server, { httpAllowHalfOpen: options.respondsToHalfClosed === true });
  server.on('connection', (socket) => {
    open.sockets.add(socket);
    socket.once('close', () => open.sockets.delete(socket));
  });
  if (options.admit) server.on('connection', options.admit);
  else server.maxConnections = MAX_CONNECTIONS;
  if (options.handlesContinue) server.on('checkContinue', handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, options)));
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      isDraining = true;
    },
    close: () => close(server, open, options.finishesRequests === true),
  };
}

const IDLE_CHECK_MS = 25;
/** Time for requests in flight to arrive completely. A sender that stalls longer must retry. */
const CLOSE_TIMEOUT_MS = 8_000;
/** Time for their responses. The rest of the process closes after it, before the deadline of shutdown.ts. */
const RESPONSE_TIMEOUT_MS = 20_000;

interface OpenConnections {
  readonly sockets: Set<Socket>;
  /** Requests without a complete response. */
  readonly inFlight: Set<IncomingMessage>;
}

/**
 * A busy connection becomes idle with its response, and the sender may keep it open for minutes.
 * Idle connections are therefore closed repeatedly until none is left, and stalled ones at the end.
 */
async function close(
  server: Server,
  open: OpenConnections,
  finishesRequests: boolean,
): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const stalled = setTimeout(() => closeStalled(open), CLOSE_TIMEOUT_MS);
  const deadline = setTimeout(
    () => server.closeAllConnections(),
    finishesRequests ? RESPONSE_TIMEOUT_MS : CLOSE_TIMEOUT_MS,
  );
  try {
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(stalled);
    clearTimeout(deadline);
  }
}

/** Closes connections without a complete request. */
function closeStalled({ sockets, inFlight }: OpenConnections): void {
  const served = new Set<Socket>();
  for (const { complete, socket } of inFlight) if (complete) served.add(socket);
  for (const socket of sockets) if (!served.has(socket)) socket.destroy();
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port, portSetting, hostSetting }: HttpServerOptions,
): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new PortInUse(
      `Port ${port} is in use, so Tallyhook cannot listen on ${where}. ` +
        `Stop the process that uses it, or set ${portSetting} to another port.`,
    );
  }
  if (error.code === 'EACCES') {
    return new OperatorError(
      `This user is not permitted to listen on ${where}. Set ${portSetting} to a port above 1023.`,
    );
  }
  if (hostSetting !== undefined && FOREIGN_HOST_CODES.has(error.code ?? '')) {
    return new UsageError(
      `${hostSetting} is ${host}, which is not an address of this machine (${error.code}), so Tallyhook ` +
        `cannot listen there. Set ${hostSetting} to an address of this machine, or to 0.0.0.0 for all of them.`,
    );
  }
  return error;
}

const FOREIGN_HOST_CODES = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);
