/**
 * A proxy in front of a service that records every request before it forwards it, and that can respond
 * in the service's place or change its responses.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { waitFor } from './waitFor.ts';

export interface RecordedRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly body: string;
}

/** The response to send instead: an object is sent as JSON, a string as it is. */
export interface ResponseOverride {
  readonly status: number;
  readonly body: object | string;
}

export interface RecordingProxy {
  readonly baseUrl: string;
  /** By path without query. Requests for these paths do not reach the service. */
  readonly standIns: Map<string, ResponseOverride>;
  /** Changes the body of each response of the service. */
  rewrite: (body: string) => string;
  /** In order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Resolves when this many requests have arrived. */
  waitForRequests(requests: number): Promise<void>;
  close(): Promise<void>;
}

export async function startRecordingProxy(serviceUrl: string): Promise<RecordingProxy> {
  const { hostname, port } = new URL(serviceUrl);
  const requests: RecordedRequest[] = [];
  const overrides = new Map<string, ResponseOverride>();
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    const body = await buffer(incoming);
    requests.push({ method, path, body: body.toString() });
    const override = overrides.get(path.split('?')[0] ?? '');
    if (override) {
      const isText = typeof override.body === 'string';
      outgoing.writeHead(override.status, {
        'content-type': isText ? 'text/html' : 'application/json',
      });
      outgoing.end(isText ? override.body : JSON.stringify(override.body));
      return;
    }
    const host = `${hostname}:${port}`;
    const forwarded = send({ hostname, port, method, path, headers: { ...headers, host } });
    forwarded.on('response', (response) => {
      const { 'content-length': _, ...kept } = response.headers;
      text(response).then(
        (received) =>
          outgoing.writeHead(response.statusCode ?? 502, kept).end(proxy.rewrite(received)),
        () => outgoing.destroy(),
      );
    });
    // The client was killed or the service is down: the other side's connection ends, too.
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    forwarded.end(body);
  };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const proxy: RecordingProxy = {
    baseUrl: `http://127.0.0.1:${address.port}`,
    requests,
    standIns: overrides,
    rewrite: (body) => body,
    waitForRequests: (count) => waitFor(`request ${count}`, () => requests.length >= count),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
