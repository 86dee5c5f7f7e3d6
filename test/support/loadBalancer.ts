/**
 * A load balancer in front of receivers, as simple as those that most people run: it checks `/readyz` of
 * each receiver at an interval, forwards each request to one that was ready, keeps connections open, and
 * repeats nothing.
 */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Backend {
  readonly webhookUrl: string;
  readonly healthUrl: string;
}

export interface LoadBalancer {
  readonly url: string;
  /** Requests that did not get a response of a receiver. */
  readonly refused: readonly string[];
  /** Resolves when the receiver gets requests. */
  add(backend: Backend): Promise<void>;
  close(): Promise<void>;
}

export async function startLoadBalancer({
  checkEveryMs,
}: {
  readonly checkEveryMs: number;
}): Promise<LoadBalancer> {
  const backends: Backend[] = [];
  const refused: string[] = [];
  const ready = new Set<Backend>();
  const agent = new Agent({ keepAlive: true });
  let next = 0;
  const check = async (backend: Backend): Promise<void> => {
    const isReady = await fetch(`${backend.healthUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) ready.add(backend);
    else ready.delete(backend);
  };
  const checks = setInterval(() => void Promise.all(backends.map(check)), checkEveryMs);
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, headers } = incoming;
    next += 1;
    const chosen = [...ready][next % ready.size];
    const refuse = (reason: string) => {
      refused.push(reason);
      outgoing.writeHead(502).end();
    };
    if (chosen === undefined) {
      incoming.resume();
      refuse('no receiver is ready');
      return;
    }
    const onward = request(chosen.webhookUrl, { method, headers, agent }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502);
      response.pipe(outgoing);
    });
    onward.on('error', (error) => refuse(error.message));
    incoming.pipe(onward);
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    add: async (backend) => {
      backends.push(backend);
      await check(backend);
    },
    close: async () => {
      clearInterval(checks);
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
