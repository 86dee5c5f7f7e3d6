/** The admin port: for operators and their tools, never for the internet. */
import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type RequestHandler } from 'express';
import { errorEnvelope } from '../contract/errors.ts';
import type { Metrics } from '../platform/metrics.ts';

export interface MetricsAppParts {
  readonly adminToken: string;
  readonly metrics: Metrics;
}

export function createMetricsApp({ adminToken, metrics }: MetricsAppParts): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(requireToken(adminToken));
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.render());
  });
  app.use((request, response) => {
    const message = `There is nothing at ${request.path}.`;
    response.status(404).json(errorEnvelope('invalid_request', 'IR_05', message));
  });
  return app;
}

/** Compares digests, which have one length, so that the time taken tells nothing of the token. */
function requireToken(adminToken: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(`Bearer ${adminToken}`);
  return (request, response, next) => {
    if (timingSafeEqual(digest(request.header('authorization') ?? ''), expected)) {
      next();
      return;
    }
    const message = 'Send the admin token: Authorization: Bearer <ADMIN_TOKEN>.';
    response.status(401).json(errorEnvelope('authentication_error', 'AU_01', message));
  };
}
