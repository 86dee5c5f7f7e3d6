/**
 * A port that serves only the metrics of this process, for processes without the admin port. It needs
 * no token: a receiver must not need a secret of the admin port, and the page has counts and no data.
 * The port is closed unless METRICS_PORT is set, and listens on loopback unless METRICS_HOST is set.
 */
import type { RequestListener } from 'node:http';
import { type HttpServer, startHttpServer } from './httpServer.ts';
import type { Metrics } from './metrics.ts';

export const METRICS_PATH = '/metrics';

/**
 * Starts listening.
 * @throws OperatorError when the port is in use or not permitted, or the host is not an address of this machine
 */
export function startMetricsServer(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const settings = { portSetting: 'METRICS_PORT', hostSetting: 'METRICS_HOST' };
  return startHttpServer({ host, port, handler: handlerOf(metrics), ...settings });
}

function handlerOf(metrics: Metrics): RequestListener {
  return (request, response) => {
    if (request.url?.split('?')[0] !== METRICS_PATH) {
      response.writeHead(404).end(`This port serves only ${METRICS_PATH}.\n`);
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      return;
    }
    void metrics.render().then(
      (page) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(page),
      () => response.writeHead(500).end(),
    );
  };
}
