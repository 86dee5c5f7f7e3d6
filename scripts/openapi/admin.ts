/** Builds the OpenAPI document of the admin API from the table of endpoints that the app is built from. */
import { z } from 'zod';
import type { Endpoint } from '../../src/console/endpoint.ts';
import { ENDPOINTS } from '../../src/console/endpoints.ts';
import { METRICS_PATH } from '../../src/platform/healthServer.ts';
import { WEBHOOKS, type WebhookType, webhookSchema } from '../../src/webhooks/webhooks.ts';
import { contentOf, type Json, parametersIn, pathsOf, refTo, sortByName } from './document.ts';

/** The errors by status: the name of the component, and what it means. */
const ERRORS: Readonly<Record<number, { readonly name: string; readonly meaning: string }>> = {
  400: { name: 'Invalid', meaning: 'The request is invalid; the message has the reason.' },
  401: { name: 'Unauthorized', meaning: 'The token is missing or invalid.' },
  403: {
    name: 'Forbidden',
    meaning:
      'The role of the token does not permit the request; the message names the roles that do.',
  },
  404: { name: 'NotFound', meaning: 'Nothing has this id.' },
  409: {
    name: 'Conflict',
    meaning:
      'The request conflicts with the current state, for example a position ahead of the feed or an ' +
      'alert that is resolved. The message has the details.',
  },
  410: {
    name: 'Gone',
    meaning: 'Retention removed what the request names; the message has where to continue.',
  },
  413: { name: 'TooLarge', meaning: 'The body is larger than any valid one.' },
  415: { name: 'Unreadable', meaning: 'The body is compressed, or not in UTF-8.' },
  422: { name: 'Inexact', meaning: 'A sum exceeds the range of exact integers.' },
  429: {
    name: 'Limited',
    meaning: 'Too many failed authentications from this address; `Retry-After` has the delay.',
  },
  503: {
    name: 'Unavailable',
    meaning:
      'The database or the payment service is unavailable, and nothing was done; `Retry-After` has the delay.',
  },
  504: {
    name: 'UnknownOutcome',
    meaning:
      'The payment service did not respond. The message has what to check before you try again.',
  },
};
/** The headers of a webhook, as Standard Webhooks defines them. */
const WEBHOOK_HEADERS = [
  ['webhook-id', 'The same in every attempt.'],
  ['webhook-timestamp', 'When the attempt was signed, in seconds since 1970.'],
  [
    'webhook-signature',
    '`v1,` and an HMAC-SHA-256 in base64; one for each secret, separated by spaces.',
  ],
] as const;

/** What a status below 300 means. */
const GOOD: Readonly<Record<number, string>> = { 201: 'Created.', 202: 'Accepted.' };
/** Errors of every endpoint. */
const COMMON_STATUSES = [400, 401, 403, 429, 503] as const;

const errorSchema = z
  .object({
    error: z.object({ type: z.string(), code: z.string(), message: z.string() }),
    continue_after: z
      .int()
      .min(0)
      .optional()
      .describe('Of a position in the change feed that is refused: where to continue.'),
  })
  .meta({ id: 'Error' });

export function buildAdminOpenApi(): Json {
  const schemas: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType): Json => hoist(schema, schemas);
  const operations = ENDPOINTS.map((endpoint) => ({
    path: endpoint.path,
    method: endpoint.method,
    description: describe(endpoint, toSchema),
  }));
  const metrics = { path: METRICS_PATH, method: 'get', description: describeMetrics() };
  const paths = pathsOf([...operations, metrics]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tallyhook admin API',
      version: '1',
      description:
        'Reads the ledger, and does what operators do. Amounts are integers in minor units with their ' +
        'currency. Responses may gain fields. Errors have the envelope of the payment service.',
    },
    servers: [{ url: 'http://127.0.0.1:8081' }],
    security: [{ token: [] }],
    paths,
    webhooks: describeWebhooks(toSchema),
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'ADMIN_TOKEN, or a token of `tallyhook tokens create`.',
        },
      },
      responses: Object.fromEntries(
        Object.values(ERRORS).map(({ name, meaning }) => [
          name,
          responseOf(meaning, toSchema(errorSchema)),
        ]),
      ),
      schemas: sortByName(schemas),
    },
  };
}

function describe(endpoint: Endpoint, toSchema: (schema: z.ZodType) => Json): Json {
  const { id, summary, description, params, query, body, response, statuses } = endpoint;
  const other = statuses.filter((status) => status < 300);
  // An accepted request is not completed yet.
  const good = other.includes(202) ? other : [200, ...other];
  const bad = [...COMMON_STATUSES, ...statuses, ...(body ? [413, 415] : [])].filter(
    (status) => status >= 400,
  );
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...parametersIn('path', params, toSchema),
      ...parametersIn('query', query, toSchema),
    ],
    ...(body && {
      requestBody: {
        required: true,
        // Unlike a response, a request must not have unknown fields.
        content: contentOf({ ...toSchema(body), additionalProperties: false }),
      },
    }),
    responses: Object.fromEntries([
      ...good.map((status) => [status, responseOf(GOOD[status] ?? 'OK.', toSchema(response))]),
      ...errorsOf(bad),
    ]),
  };
}

function errorsOf(statuses: readonly number[]): readonly (readonly [number, Json])[] {
  return statuses.map((status) => [status, refTo('responses', String(ERRORS[status]?.name))]);
}

function describeMetrics(): Json {
  return {
    operationId: 'getMetrics',
    summary: 'Metrics of this process, for Prometheus',
    responses: Object.fromEntries([
      [200, { description: 'OK.', content: contentOf({ type: 'string' }, 'text/plain') }],
      ...errorsOf([401, 403, 429, 503]),
    ]),
  };
}

/** What Tallyhook sends, by type: requests to the shop and to the operators' program. */
function describeWebhooks(toSchema: (schema: z.ZodType) => Json): Json {
  return Object.fromEntries(
    Object.entries(WEBHOOKS).map(([type, { when }]) => [
      type,
      {
        post: {
          summary: when,
          security: [],
          parameters: WEBHOOK_HEADERS.map(([name, description]) => ({
            name,
            in: 'header',
            required: true,
            description,
            schema: { type: 'string' },
          })),
          requestBody: {
            required: true,
            content: contentOf(toSchema(webhookSchema(type as WebhookType))),
          },
          responses: { '2XX': { description: 'Received. Any other response is retried.' } },
        },
      },
    ]),
  );
}

function responseOf(description: string, schema: Json): Json {
  return { description, content: contentOf(schema) };
}

/**
 * Converts a schema. Named parts, including the schema itself, become references, and their
 * definitions are added to `schemas`.
 */
function hoist(schema: z.ZodType, schemas: Record<string, unknown>): Json {
  const { $schema, $defs, ...own } = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ zodSchema, jsonSchema }) => {
      // Responses may gain fields, so a reader must accept unknown ones.
      if (zodSchema._zod.def.type === 'object') delete jsonSchema.additionalProperties;
      delete jsonSchema.id;
    },
  });
  Object.assign(schemas, referToComponents($defs ?? {}));
  return referToComponents(own);
}

function referToComponents(schema: object): Json {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return JSON.parse(text) as Json;
}
