/** The admin port: for operators, the shop and their tools. Never expose it to the internet. */
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { TokenVerifier } from '../access/verifyToken.ts';
import type { Refusals } from '../audit/refusals.ts';
import type { TrustedProxies } from '../platform/clientAddress.ts';
import { errorHandler } from '../platform/errorHandler.ts';
import { METRICS_PATH } from '../platform/healthServer.ts';
import { loadedOnUse } from '../platform/loadedOnUse.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Allow, ServedApiParts } from './api.ts';
import { authenticate, authorize } from './auth.ts';
import { createRefusalLog } from './refusalLog.ts';
import { MAX_BODY_BYTES, replyToError, send, toReply } from './reply.ts';
import { createWriteCheck } from './writeCheck.ts';

export interface ConsoleAppParts extends ServedApiParts {
  readonly tokens: TokenVerifier;
  readonly trustedProxies: TrustedProxies;
  /** Records what was refused. */
  readonly refusals: Refusals;
  /** Whether the database can be read. */
  readonly isReady: () => boolean;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Serves the pages of the console: everything but the API and the metrics. */
  readonly pages: RequestHandler;
}

export function createConsoleApp(parts: ConsoleAppParts): Express {
  const { db, clock, isReady, log, metrics, refusals, tokens, trustedProxies } = parts;
  const countRefused = metrics.counter(
    'tallyhook_admin_refused_total',
    'Requests to the admin port without a valid token, or without the permission',
    { reason: ['unauthorized', 'limited', 'forbidden'] },
  );
  const refused = (reason: 'unauthorized' | 'limited' | 'forbidden') => countRefused({ reason });
  const logRefusal = createRefusalLog(log, clock);
  const allow: Allow = (subject, needed) =>
    authorize(subject, needed, { refused, logRefusal, refusals });
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // A missing id must not turn a request for one order into a request for all.
  app.enable('strict routing');
  app.enable('case sensitive routing');
  // Endpoints read the query themselves, so that repeated and unknown parameters are refused.
  app.set('query parser', false);
  app.use((request, response, next) =>
    isForPrograms(request.path) ? next() : parts.pages(request, response, next),
  );
  app.use(authenticate({ tokens, trustedProxies, clock, refused, logRefusal }));
  const readMetrics = allow(`GET ${METRICS_PATH}`, () => ['read_metrics']);
  app.get(METRICS_PATH, readMetrics, async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.render());
  });
  const guards = { isReady, allow, refuseWrite: createWriteCheck(db) };
  app.use(loadedOnUse(async () => (await import('./api.ts')).createApi(parts, guards)));
  app.use((request, response) => {
    const message = `There is no endpoint at ${request.path}.`;
    send(response, toReply({ outcome: 'not_found', message }));
  });
  app.use(createErrorHandler(log));
  return app;
}

/** Programs authenticate with a token in each request; people sign in to the pages. */
function isForPrograms(path: string): boolean {
  return path === METRICS_PATH || path === '/api' || path.startsWith('/api/');
}

function createErrorHandler(log: Log): ErrorRequestHandler {
  return errorHandler((error, _request, response) => {
    const given = replyToError(error, limitOf(error));
    // Of an unknown outcome, too: what interrupted it is nowhere else.
    if (given.status === 500 || given.status === 504)
      log.error({ error }, 'console.request_failed');
    send(response, given);
  });
}

/** The limit that a body exceeded; the body parser states it. */
function limitOf(error: unknown): number {
  const isStated = error instanceof Error && 'limit' in error && typeof error.limit === 'number';
  return isStated ? Number(error.limit) : MAX_BODY_BYTES;
}
