/** A shop's end of the webhooks: a real HTTP listener that keeps what comes and answers as told. */
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
  /** Status of every answer from now on; 200 at first. */
  answerWith(status: number): void;
  close(): Promise<void>;
}

export async function startWebhookListener(): Promise<WebhookListener> {
  const received: ReceivedWebhook[] = [];
  let status = 200;
  const take = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request);
    const signature = request.headers['x-webhook-signature-512'];
    received.push({
      body,
      signature: typeof signature === 'string' ? signature : undefined,
      event: JSON.parse(body.toString()) as ReceivedWebhook['event'],
    });
  };
  const server = createServer((request, response) => {
    void take(request).then(() => {
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    answerWith: (next) => {
      status = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
