/** Sends requests that fetch cannot send: truncated, chunked, or with a repeated header. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent with chunked encoding unless the headers have a Content-Length. */
  readonly chunks?: readonly Buffer[];
}

export interface RawResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request on a new connection and reads the response. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, chunks = [] }: RawRequest,
): Promise<RawResponse> {
  const outgoing = request(url, { method, headers, agent: false });
  const responded = once(outgoing, 'response');
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
  const [response] = await responded;
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await text(response),
  };
}

export interface Connection {
  write(data: Buffer | string): void;
  /** Half-closes the connection, as a sender that ends normally does. */
  end(): void;
  /** Resets the connection, as when the sender is killed. */
  abort(): void;
  /** Everything that the server sends until it closes the connection. */
  received(): Promise<string>;
}

/** Opens a connection on which a test can send any bytes. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const received = text(socket);
  // A reset fails the read even if the test never calls `received`.
  received.catch(() => undefined);
  return {
    write: (data) => {
      socket.write(data);
    },
    end: () => {
      socket.end();
    },
    abort: () => {
      socket.resetAndDestroy();
    },
    received: () => received,
  };
}

/** The head of a POST request, to write to an open connection. */
export function postHead(headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /webhooks HTTP/1.1\r\nHost: receiver\r\n${lines.join('')}\r\n`;
}
