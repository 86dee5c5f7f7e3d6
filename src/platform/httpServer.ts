/** An HTTP server with limits on time and connections, that stops without dropping a request. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { OperatorError } from './errors.ts';

export interface HttpServer {
  /** The port it listens on; the one asked for, or a free one if 0 was. */
  readonly port: number;
  /** Stops accepting and resolves when every request in flight has been answered. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: RequestListener;
  /** The setting to name when the port is taken. */
  readonly portSetting: string;
  /** The setting to name when the host is not of this machine; undefined where none chooses it. */
  readonly hostSetting?: string;
}

const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** Where this machine itself reaches what listens on `host`, which may stand for all its addresses. */
export function localUrl(host: string, port: number): string {
  const reached = WILDCARDS.includes(host) ? '127.0.0.1' : host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the idle time of common load balancers, which must be the ones to close. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const MAX_CONNECTIONS = 2_000;

/**
 * Listens.
 * @throws OperatorError when the port is taken or may not be used, or the host is not of this machine
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      maxHeaderSize: 16 * 1024,
    },
    options.handler,
  );
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, options)));
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => close(server),
  };
}

const IDLE_CHECK_MS = 25;
/** Time for requests in flight to arrive whole; a sender that stalls longer must send again. */
const CLOSE_PATIENCE_MS = 8_000;

/**
 * A connection that is busy now becomes idle with its reply, and its sender may keep it open for
 * minutes: those that are idle are closed until none is left, and in the end those that stall.
 */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const patience = setTimeout(() => server.closeAllConnections(), CLOSE_PATIENCE_MS);
  try {
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(patience);
  }
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port, portSetting, hostSetting }: HttpServerOptions,
): Error {
  const where = `${host}:${port}`;
  if (error.code === 'EADDRINUSE') {
    return new OperatorError(
      `Port ${port} is taken, so nothing can listen on ${where}. ` +
        `Stop what uses it, or set ${portSetting} to another port.`,
    );
  }
  if (error.code === 'EACCES') {
    return new OperatorError(
      `This user may not listen on ${where}. Set ${portSetting} to a port above 1023.`,
    );
  }
  if (hostSetting !== undefined && FOREIGN_HOST_CODES.has(error.code ?? '')) {
    return new OperatorError(
      `${hostSetting} is ${host}, which is no address of this machine (${error.code}), so nothing can ` +
        `listen there. Set ${hostSetting} to one that is, or to 0.0.0.0 for all of them.`,
    );
  }
  return error;
}

const FOREIGN_HOST_CODES = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);
