/**
 * A port with nothing but the metrics of this process, for processes without the admin port. No token:
 * a receiver shall need no secret of the admin port, the page holds counts and no data, and the port
 * is closed unless it is asked for, and then on loopback unless it is told otherwise.
 */
import type { RequestListener } from 'node:http';
import { type HttpServer, startHttpServer } from './httpServer.ts';
import type { Metrics } from './metrics.ts';

export const METRICS_PATH = '/metrics';

/**
 * Listens.
 * @throws OperatorError when the port is taken or may not be used, or the host is not of this machine
 */
export function startMetricsServer(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<HttpServer> {
  const settings = { portSetting: 'METRICS_PORT', hostSetting: 'METRICS_HOST' };
  return startHttpServer({ host, port, handler: answer(metrics), ...settings });
}

function answer(metrics: Metrics): RequestListener {
  return (request, response) => {
    if (request.url?.split('?')[0] !== METRICS_PATH) {
      response.writeHead(404).end(`There is nothing here but ${METRICS_PATH}.\n`);
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
