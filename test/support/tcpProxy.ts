/**
 * A TCP proxy between a client and a server that simulates outages:
 *
 *   refuse()   resets every connection and stops listening: the server is down
 *   freeze()   keeps connections open and forwards nothing: the machine lost its power or network
 *   resume()   forwards again, on the same port
 *
 * Its port is below the system's ephemeral range, so that no client gets it while the proxy is down.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  /** The server's URL with the host and port of this proxy. */
  readonly url: string;
  /** Forwards new connections to another server, e.g. one restarted on another port. */
  retarget(serverUrl: string): void;
  refuse(): void;
  freeze(): void;
  resume(): Promise<void>;
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** Start as after `refuse()`. */
  readonly refusing?: boolean;
}

const HOST = '127.0.0.1';

export async function startTcpProxy(
  serverUrl: string,
  options: TcpProxyOptions = {},
): Promise<TcpProxy> {
  let target = hostOf(serverUrl);
  let frozen = false;
  const sockets = new Set<Socket>();

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // An error on one side reaches the other side through `close`.
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    if (frozen) socket.pause();
  };
  const serve = (client: Socket): void => {
    const server = connect(target);
    keep(client);
    keep(server);
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => client.write(chunk));
    client.once('end', () => server.end());
    server.once('end', () => client.end());
    client.once('close', () => server.destroy());
    // If the server is down or resets the connection, so does the proxy.
    server.once('close', (hadError) => (hadError ? reset(client) : client.end()));
    if (frozen) for (const socket of [client, server]) socket.pause();
  };

  let listener = await listenBelowClients(serve);
  const port = portOf(listener);
  const proxy: TcpProxy = {
    url: withHost(serverUrl, `${HOST}:${port}`),
    retarget: (url) => {
      target = hostOf(url);
    },
    refuse: () => {
      listener.close();
      for (const socket of sockets) reset(socket);
    },
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    resume: async () => {
      frozen = false;
      for (const socket of sockets) socket.resume();
      if (!listener.listening) listener = await listen(port, serve);
    },
    close: async () => {
      const closed = listener.listening ? once(listener, 'close') : undefined;
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  if (options.refusing) proxy.refuse();
  return proxy;
}

function reset(socket: Socket): void {
  if (!socket.destroyed) socket.resetAndDestroy();
}

async function listen(port: number, serve: (client: Socket) => void): Promise<Server> {
  const listener = createServer(serve).listen({ host: HOST, port, exclusive: true });
  await once(listener, 'listening');
  return listener;
}

const LOWEST_PORT = 12_000;
const PORTS = 18_000;
const TRIES = 50;

async function listenBelowClients(serve: (client: Socket) => void): Promise<Server> {
  for (let left = TRIES; ; left -= 1) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    try {
      return await listen(port, serve);
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || left === 0) throw error;
    }
  }
}

function portOf(listener: Server): number {
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
}

function hostOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

function withHost(url: string, host: string): string {
  const changed = new URL(url);
  changed.host = host;
  return changed.href;
}
