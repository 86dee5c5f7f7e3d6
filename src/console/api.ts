/** The endpoints of the admin API, built from their table. */
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Permission } from '../access/domain/roles.ts';
import type { Reads } from '../platform/db/reads.ts';
import { expressPath } from '../platform/expressPath.ts';
import { METRICS_PATH } from '../platform/healthServer.ts';
import { queryOf } from '../platform/query.ts';
import { actorOf } from './auth.ts';
import type { ApiParts, Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { MAX_BODY_BYTES, type Reply, refusal, send, toReply, unavailable } from './reply.ts';
import type { WriteCheck } from './writeCheck.ts';

export interface ServedApiParts extends ApiParts {
  /** Where requests that change nothing are read. */
  readonly reads: Reads;
}

/** Lets a request pass only with the permissions that it needs. */
export type Allow = (
  subject: string,
  needed: (request: Request) => readonly Permission[],
) => RequestHandler;

export interface ApiGuards {
  readonly isReady: () => boolean;
  readonly allow: Allow;
  readonly refuseWrite: WriteCheck;
}

/** Serves every endpoint; a wrong method is refused with those that its path has. */
export function createApi(parts: ServedApiParts, guards: ApiGuards): Router {
  const { isReady, allow, refuseWrite } = guards;
  const router = express.Router({ strict: true, caseSensitive: true });
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
    router[endpoint.method](expressPath(endpoint.path), ...handlers);
  }
  const methods = new Map([[METRICS_PATH, ['GET', 'HEAD']]]);
  for (const { method, path } of ENDPOINTS) {
    const own = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
    methods.set(expressPath(path), [...(methods.get(expressPath(path)) ?? []), ...own]);
  }
  for (const [path, allowed] of methods) {
    router.route(path).all((request, response) => {
      const message = `${request.method} is not allowed here. Use ${allowed.join(', ')}.`;
      response.set('Allow', allowed.join(', '));
      send(response, refusal(405, message));
    });
  }
  return router;
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

async function respond(
  endpoint: Endpoint,
  parts: ServedApiParts,
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
