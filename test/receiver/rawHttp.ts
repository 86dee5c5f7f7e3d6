/** Requests that fetch would not send: cut short, in chunks, with a header twice. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawRequest {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Without a Content-Length among the headers they are sent with chunked encoding. */
  readonly chunks?: readonly Buffer[];
}

export interface RawReply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request over a connection of its own and reads the reply. */
export async function send(
  url: string,
  { method = 'POST', headers = {}, chunks = [] }: RawRequest,
): Promise<RawReply> {
  const outgoing = request(url, { method, headers, agent: false });
  const answered = once(outgoing, 'response');
  for (const chunk of chunks) outgoing.write(chunk);
  outgoing.end();
  const [response] = await answered;
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await text(response),
  };
}

export interface Connection {
  write(data: Buffer | string): void;
  /** Says that nothing more comes, as a sender does whose process ends well. */
  end(): void;
  /** Breaks off, as a sender does that is killed. */
  reset(): void;
  /** Everything the server says until it closes the connection. */
  rest(): Promise<string>;
}

/** Opens a connection to say anything on. */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const said = text(socket);
  // A connection that is broken off fails its reader, who may not have been asked for yet.
  said.catch(() => undefined);
  return {
    write: (data) => {
      socket.write(data);
    },
    end: () => {
      socket.end();
    },
    reset: () => {
      socket.resetAndDestroy();
    },
    rest: () => said,
  };
}

/** The head of a POST, for a connection that is written by hand. */
export function postHead(headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /webhooks HTTP/1.1\r\nHost: receiver\r\n${lines.join('')}\r\n`;
}
