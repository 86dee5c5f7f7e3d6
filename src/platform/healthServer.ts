/**
 * The health port: `/healthz`, `/readyz` and the metrics of this process. It needs no token: an
 * orchestrator has none, a receiver must not need a secret of the admin port, and the pages have counts
 * and reasons and no data. It is a port of its own, so that what a stranger sends to the webhook port
 * cannot make a process look dead. It listens on loopback unless METRICS_HOST is set.
 */
import type { RequestListener, ServerResponse } from 'node:http';
import { type HttpServer, startHttpServer } from './httpServer.ts';
import type { Metrics } from './metrics.ts';
import { packageVersion } from './packageRoot.ts';

export const METRICS_PATH = '/metrics';

/** What `/readyz` reports. */
export interface Readiness {
  /** Whether the process should get work: 200 or 503. */
  readonly ready: boolean;
  /** Whether a check failed, even if the process is ready. */
  readonly degraded: boolean;
  /** Each check, with its result or the reason why it failed. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface HealthServerParts {
  readonly metrics: Metrics;
  /** Must not reject. */
  readonly readiness: () => Promise<Readiness>;
}

/**
 * Starts listening.
 * @throws OperatorError when the port is in use or not permitted, or the host is not an address of this machine
 */
export function startHealthServer(
  parts: HealthServerParts,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const settings = { portSetting: 'METRICS_PORT', hostSetting: 'METRICS_HOST' };
  return startHttpServer({ host, port, handler: handlerOf(parts), ...settings });
}

function handlerOf({ metrics, readiness }: HealthServerParts): RequestListener {
  const version = packageVersion();
  const pages: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    [METRICS_PATH]: async (response) => {
      const page = await metrics.render();
      response.writeHead(200, { 'Content-Type': metrics.contentType }).end(page);
    },
    '/healthz': async (response) => sendJson(response, 200, { status: 'alive', version }),
    '/readyz': async (response) => {
      const state = await readiness();
      sendJson(response, state.ready ? 200 : 503, state);
    },
  };
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) {
      response.writeHead(404).end(`This port serves only ${Object.keys(pages).join(', ')}.\n`);
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    page(response).catch(() => response.writeHead(500).end());
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
