/** The admin port: for operators, the shop and their tools. Never expose it to the internet. */
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Permission } from '../access/domain/roles.ts';
import type { TokenVerifier } from '../access/verifyToken.ts';
import type { TrustedProxies } from '../platform/clientAddress.ts';
import type { Reads } from '../platform/db/reads.ts';
import { errorHandler } from '../platform/errorHandler.ts';
import { METRICS_PATH } from '../platform/healthServer.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { actorOf, authenticate, authorize } from './auth.ts';
import { createDenialRecorder } from './denials.ts';
import type { ApiParts, Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { createRefusalLog } from './refusalLog.ts';
import { type Reply, refusal, replyToError, toReply, unavailable } from './reply.ts';
import { createWriteCheck, type WriteCheck } from './writeCheck.ts';

export interface ConsoleAppParts extends ApiParts {
  /** Where requests that change nothing are read. */
  readonly reads: Reads;
  readonly tokens: TokenVerifier;
  readonly trustedProxies: TrustedProxies;
  /** Whether the database can be read. */
  readonly isReady: () => boolean;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Serves the pages of the console: everything but the API and the metrics. */
  readonly pages: RequestHandler;
}

/** The largest body of an endpoint that states no other limit. */
const MAX_BODY_BYTES = 4 * 1024;

export function createConsoleApp(parts: ConsoleAppParts): Express {
  const { db, clock, isReady, log, metrics, tokens, trustedProxies } = parts;
  const refusals = metrics.counter(
    'tallyhook_admin_refused_total',
    'Requests to the admin port without a valid token, or without the permission',
    { reason: ['unauthorized', 'limited', 'forbidden'] },
  );
  const refused = (reason: 'unauthorized' | 'limited' | 'forbidden') => refusals({ reason });
  const logRefusal = createRefusalLog(log, clock);
  const recordDenied = createDenialRecorder(db, { clock, log });
  const allow: Allow = (subject, needed) =>
    authorize(subject, needed, { refused, logRefusal, recordDenied });
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // A missing id must not turn a request for one order into a request for all.
  app.enable('strict routing');
  app.enable('case sensitive routing');
  // Endpoints read the query themselves, so that repeated and unknown parameters are refused.
  app.set('query parser', false);
  app.use((request, response, next) => {
    if (isForPrograms(request.path)) next();
    else parts.pages(request, response, next);
  });
  app.use(authenticate({ tokens, trustedProxies, clock, refused, logRefusal }));
  const readMetrics = allow(`GET ${METRICS_PATH}`, () => ['read_metrics']);
  app.get(METRICS_PATH, readMetrics, async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.render());
  });
  addEndpoints(app, parts, { isReady, allow, refuseWrite: createWriteCheck(db) });
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

/** Lets a request pass only with the permissions that it needs. */
type Allow = (
  subject: string,
  needed: (request: Request) => readonly Permission[],
) => RequestHandler;

interface EndpointGuards {
  readonly isReady: () => boolean;
  readonly allow: Allow;
  readonly refuseWrite: WriteCheck;
}

function addEndpoints(app: Express, parts: ConsoleAppParts, guards: EndpointGuards): void {
  const { isReady, allow, refuseWrite } = guards;
  for (const endpoint of ENDPOINTS) {
    const serve: RequestHandler = async (request, response) => {
      if (!isReady()) {
        send(response, unavailable());
        return;
      }
      const refused = endpoint.method === 'get' ? undefined : await refuseWrite();
      send(response, refused ?? (await respond(endpoint, parts, { request, response })));
    };
    const subject = `${endpoint.method.toUpperCase()} ${endpoint.path}`;
    const permitted = allow(subject, (request) => permissionsOf(endpoint, request));
    const limit = endpoint.maxBodyBytes ?? MAX_BODY_BYTES;
    // For any content type: `curl -d` declares a form.
    const readBody = express.json({ type: () => true, limit, inflate: false });
    const handlers = endpoint.body ? [permitted, readBody, serve] : [permitted, serve];
    app[endpoint.method](expressPath(endpoint.path), ...handlers);
  }
  const methods = new Map([[METRICS_PATH, ['GET', 'HEAD']]]);
  for (const { method, path } of ENDPOINTS) {
    const own = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methods.set(expressPath(path), [...(methods.get(expressPath(path)) ?? []), ...own]);
  }
  for (const [path, allowed] of methods) {
    app.route(path).all((request, response) => {
      const message = `${request.method} is not allowed here. Use ${allowed.join(', ')}.`;
      response.set('Allow', allowed.join(', '));
      send(response, refusal(405, message));
    });
  }
}

/** What a request to an endpoint needs: its permission, and those of the parameters that it sends. */
function permissionsOf(
  { permission, queryPermissions = {} }: Endpoint,
  { originalUrl }: Request,
): readonly Permission[] {
  const sent = queryOf(originalUrl);
  const besides = Object.entries(queryPermissions).filter(([name]) => sent.has(name));
  return [permission, ...besides.map(([, needed]) => needed)];
}

/** The path in the syntax of Express. */
function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

async function respond(
  endpoint: Endpoint,
  parts: ConsoleAppParts,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<Reply> {
  const query = readQuery(request.originalUrl);
  if ('twice' in query) return refusal(400, `The query has ${query.twice} more than once.`);
  const raw = {
    params: { ...request.params },
    query: query.values,
    body: request.body,
    actor: actorOf(response),
  };
  if (!isList(endpoint)) {
    const responded = endpoint.respond(parts, raw);
    return toReply(
      await (endpoint.method === 'get' ? responded : responded.finally(parts.reads.wrote)),
    );
  }
  const { db, ageMs } = parts.reads.source();
  // RFC 9111: how long ago the response was current.
  if (ageMs !== undefined) response.set('Age', String(Math.ceil(ageMs / 1000)));
  return toReply(await endpoint.respond({ ...parts, db }, raw));
}

/**
 * Lists may be some seconds old. One resource is current: a shop reads it when it is notified of a change.
 */
function isList({ method, path }: Endpoint): boolean {
  return method === 'get' && !path.includes('{');
}

function readQuery(
  url: string,
): { readonly values: Readonly<Record<string, string>> } | { readonly twice: string } {
  const pairs = [...queryOf(url)];
  const seen = new Set<string>();
  for (const [name] of pairs) {
    if (seen.has(name)) return { twice: JSON.stringify(name) };
    seen.add(name);
  }
  return { values: Object.fromEntries(pairs) };
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
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

function send(response: Response, { status, headers, body }: Reply): void {
  response.status(status).set(headers).json(body);
}
