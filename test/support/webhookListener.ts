/** A shop's webhook endpoint: an HTTP server that records requests and responds as configured. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ReceivedWebhook {
  readonly body: Buffer;
  readonly signature: string | undefined;
  readonly event: {
    readonly event_id: string;
    readonly event_type: string;
    readonly merchant_id: string;
    readonly timestamp: string;
    readonly content: {
      readonly type: string;
      readonly object: { readonly [field: string]: unknown };
    };
  };
}

export interface WebhookListener {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** Sets the status of all further responses; 200 by default. */
  respondWith(status: number): void;
  /** Withholds the responses to webhooks about these objects until `releaseResponses`. */
  withholdResponses(isWithheld: (objectId: string) => boolean): void;
  releaseResponses(): void;
  close(): Promise<void>;
}

export async function startWebhookListener(): Promise<WebhookListener> {
  const received: ReceivedWebhook[] = [];
  let status = 200;
  let isWithheld = (_objectId: string): boolean => false;
  const withheld = new Set<() => void>();
  const receive = async (request: IncomingMessage): Promise<ReceivedWebhook> => {
    const body = await buffer(request);
    const signature = request.headers['x-webhook-signature-512'];
    const webhook = {
      body,
      signature: typeof signature === 'string' ? signature : undefined,
      event: JSON.parse(body.toString()) as ReceivedWebhook['event'],
    };
    received.push(webhook);
    return webhook;
  };
  const server = createServer((request, response) => {
    void receive(request).then(({ event }) => {
      const respond = () => response.writeHead(status).end();
      const ids = Object.values(event.content.object);
      if (ids.some((id) => typeof id === 'string' && isWithheld(id))) withheld.add(respond);
      else respond();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    respondWith: (next) => {
      status = next;
    },
    withholdResponses: (next) => {
      isWithheld = next;
    },
    releaseResponses: () => {
      isWithheld = () => false;
      for (const respond of withheld) respond();
      withheld.clear();
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
