/**
 * An endpoint of the admin API as data: the app and the OpenAPI document are both built from it, so
 * neither can tell of something that the other does not have.
 */
import type { z } from 'zod';
import type { ChangeFeed } from '../ledger/changeFeed.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Refresher } from '../reconcile/refreshOnRead.ts';

/** What endpoints work with. */
export interface ApiParts {
  readonly db: Database;
  readonly feed: ChangeFeed;
  readonly clock: Clock;
  /** Asks the service about an order or a payment first; undefined when no key is set. */
  readonly refresher: Refresher | undefined;
}

/** Every answer an endpoint can give; app.ts says what it is in HTTP. */
export type Answer<Body> =
  | { readonly outcome: 'ok' | 'created'; readonly body: Body }
  /** What was sent cannot be used, beyond what its schema says. */
  | { readonly outcome: 'invalid'; readonly message: string }
  | { readonly outcome: 'not_found'; readonly message: string }
  | { readonly outcome: 'conflict'; readonly message: string }
  /** It depends on the payment service, which did not answer. */
  | { readonly outcome: 'unavailable'; readonly message: string };

/** What was sent, read by the endpoint's schemas. */
export interface ApiRequest<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Name of the token that was shown. */
  readonly actor: string;
}

/** What was sent, as it came. */
export type RawRequest = ApiRequest<unknown, unknown, unknown>;

export interface EndpointDescription {
  /** Name of the operation in the OpenAPI document. */
  readonly id: string;
  readonly method: 'get' | 'put' | 'post';
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: `/api/v1/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** Undefined: none is read. */
  readonly body?: z.ZodObject;
  readonly response: z.ZodType;
  /** Statuses beyond 200 and those that every endpoint can answer with. */
  readonly statuses: readonly (201 | 404 | 409 | 422)[];
}

export interface Endpoint extends EndpointDescription {
  /** Reads what was sent and answers it. */
  readonly answer: (parts: ApiParts, raw: RawRequest) => Promise<Answer<unknown>>;
}

interface Definition<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Response extends z.ZodType,
> extends EndpointDescription {
  readonly params: Params;
  readonly query: Query;
  readonly body?: Body;
  readonly response: Response;
  readonly handle: (
    parts: ApiParts,
    request: ApiRequest<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<Answer<z.input<Response>>>;
}

/** Ties a handler to its schemas: what it is handed and what it returns have their types. */
export function defineEndpoint<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodObject,
  Response extends z.ZodType,
>(definition: Definition<Params, Query, Body, Response>): Endpoint {
  const { handle, ...description } = definition;
  return {
    ...description,
    answer: async (parts, raw) => {
      const params = definition.params.safeParse(raw.params);
      if (!params.success) return invalid('path', params.error);
      const query = definition.query.safeParse(raw.query);
      if (!query.success) return invalid('query', query.error, Object.keys(definition.query.shape));
      // Without a body, what it lacks is named.
      const body = definition.body?.safeParse(raw.body ?? {});
      if (body && !body.success) return invalid('body', body.error);
      return await handle(parts, {
        params: params.data,
        query: query.data,
        body: body?.data as z.output<Body>,
        actor: raw.actor,
      });
    },
  };
}

function invalid(
  where: 'path' | 'query' | 'body',
  { issues }: z.ZodError,
  known: readonly string[] = [],
): Answer<never> {
  const mistakes = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const names = issue.keys.map((key) => JSON.stringify(key)).join(', ');
      const instead = known.length > 0 ? `; there are ${known.join(', ')}` : '';
      return `${names} is not known here${instead}`;
    }
    const name = issue.path.join('.');
    return name === '' ? issue.message : `${name}: ${issue.message}`;
  });
  return { outcome: 'invalid', message: `The ${where} cannot be used: ${mistakes.join('; ')}.` };
}
