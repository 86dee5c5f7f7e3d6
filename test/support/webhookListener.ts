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
  /** Leaves webhooks about these objects without an answer until `release`. */
  hangOver(isHung: (objectId: string) => boolean): void;
  release(): void;
  close(): Promise<void>;
}

export async function startWebhookListener(): Promise<WebhookListener> {
  const received: ReceivedWebhook[] = [];
  let status = 200;
  let isHung = (_objectId: string): boolean => false;
  const held = new Set<() => void>();
  const take = async (request: IncomingMessage): Promise<ReceivedWebhook> => {
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
    void take(request).then(({ event }) => {
      const answer = () => response.writeHead(status).end();
      const ids = Object.values(event.content.object);
      if (ids.some((id) => typeof id === 'string' && isHung(id))) held.add(answer);
      else answer();
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
    hangOver: (next) => {
      isHung = next;
    },
    release: () => {
      isHung = () => false;
      for (const answer of held) answer();
      held.clear();
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
