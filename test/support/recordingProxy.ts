/**
 * A proxy in front of a service that notes every request, before the service sees it, and that can
 * answer in its place.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { waitFor } from './waitFor.ts';

export interface RecordedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

/** What is answered instead: a value as JSON, a text as it is. */
export interface StandIn {
  readonly status: number;
  readonly body: object | string;
}

export interface RecordingProxy {
  readonly baseUrl: string;
  /** By path without its query; what stands here the service never sees. */
  readonly standIns: Map<string, StandIn>;
  /** In the order in which they came. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves when so many requests have come. */
  reached(requests: number): Promise<void>;
  close(): Promise<void>;
}

export async function startRecordingProxy(serviceUrl: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(serviceUrl);
  const requests: RecordedRequest[] = [];
  const standIns = new Map<string, StandIn>();
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const body = await buffer(incoming);
    requests.push({ method, path, body: body.toString() });
    const standIn = standIns.get(path.split('?')[0] ?? '');
    if (standIn) {
      const isText = typeof standIn.body === 'string';
      outgoing.writeHead(standIn.status, {
        'content-type': isText ? 'text/html' : 'application/json',
      });
      outgoing.end(isText ? standIn.body : JSON.stringify(standIn.body));
      return;
    }
    const host = `${hostname}:${port}`;
    const forwarded = send({ hostname, port, method, path, headers: { ...headers, host } });
    forwarded.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    // Whoever asked was killed, or the service is gone: the other side sees its connection end.
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    take(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    requests,
    standIns,
    reached: (count) => waitFor(`request ${count}`, () => requests.length >= count),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
