/**
 * The admin API's description, as OpenAPI 3.1, built from the table that the app is built from.
 * `npm run generate` writes it to docs/openapi-admin.json.
 */
import { z } from 'zod';
import { METRICS_PATH } from '../platform/metricsServer.ts';
import type { Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';

type Json = Readonly<Record<string, unknown>>;

/** What can go wrong: the name in the document, by status. */
const REFUSALS: Readonly<Record<number, { readonly name: string; readonly meaning: string }>> = {
  400: { name: 'Invalid', meaning: 'What was sent cannot be used; the message says why.' },
  401: { name: 'Unauthorized', meaning: 'No valid token was shown.' },
  404: { name: 'NotFound', meaning: 'Nothing is known under this id.' },
  409: {
    name: 'Conflict',
    meaning:
      'Things are not as what was sent takes them to be: a place ahead of the feed, an alert that is ' +
      'resolved. The message says more.',
  },
  413: { name: 'TooLarge', meaning: 'The body is larger than any that means something here.' },
  415: { name: 'Unreadable', meaning: 'The body is encoded, or not in UTF-8.' },
  422: { name: 'Inexact', meaning: 'A sum would leave the range of exact integers.' },
  429: {
    name: 'Limited',
    meaning: 'Too many failed authentications from this address; `Retry-After` says how long.',
  },
  503: {
    name: 'Unavailable',
    meaning: 'The database is away; `Retry-After` says when to come again.',
  },
};
/** Statuses that every endpoint can answer with. */
const ALWAYS = [400, 401, 429, 503] as const;

const errorSchema = z
  .object({
    error: z.object({ type: z.string(), code: z.string(), message: z.string() }),
  })
  .meta({ id: 'Error' });

/** Builds the document. */
export function buildOpenApi(): Json {
  const schemas: Record<string, unknown> = {};
  const toSchema = (schema: z.ZodType): Json => hoist(schema, schemas);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of ENDPOINTS) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: describe(endpoint, toSchema),
    };
  }
  paths[METRICS_PATH] = { get: describeMetrics() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tallyhook admin API',
      version: '1',
      description:
        'Reads the ledger, and says what people do about alerts. Amounts are integers in minor units beside their currency. Answers may ' +
        'gain fields. Errors have the envelope of the payment service.',
    },
    servers: [{ url: 'http://127.0.0.1:8081' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'One of the tokens of ADMIN_TOKEN.' },
      },
      responses: Object.fromEntries(
        Object.values(REFUSALS).map(({ name, meaning }) => [
          name,
          answerOf(meaning, toSchema(errorSchema)),
        ]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function describe(endpoint: Endpoint, toSchema: (schema: z.ZodType) => Json): Json {
  const { id, summary, description, params, query, body, response, statuses } = endpoint;
  const good = [200, ...statuses.filter((status) => status < 300)];
  const bad = [...ALWAYS, ...statuses, ...(body ? [413, 415] : [])].filter(
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
        // Unlike answers, what is sent may hold nothing that is not known.
        content: {
          'application/json': { schema: { ...toSchema(body), additionalProperties: false } },
        },
      },
    }),
    responses: Object.fromEntries([
      ...good.map((status) => [
        status,
        answerOf(status === 201 ? 'Created.' : 'OK.', toSchema(response)),
      ]),
      ...refusalsOf(bad),
    ]),
  };
}

function refusalsOf(statuses: readonly number[]): readonly (readonly [number, Json])[] {
  return statuses.map((status) => [
    status,
    { $ref: `#/components/responses/${REFUSALS[status]?.name}` },
  ]);
}

function describeMetrics(): Json {
  return {
    operationId: 'getMetrics',
    summary: 'Metrics of this process, for Prometheus',
    responses: Object.fromEntries([
      [200, { description: 'OK.', content: { 'text/plain': { schema: { type: 'string' } } } }],
      ...refusalsOf([401, 429]),
    ]),
  };
}

function answerOf(description: string, schema: Json): Json {
  return { description, content: { 'application/json': { schema } } };
}

function parametersIn(
  place: 'path' | 'query',
  { shape }: z.ZodObject,
  toSchema: (schema: z.ZodType) => Json,
): readonly Json[] {
  return Object.entries(shape).map(([name, field]) => {
    const { description, ...schema } = toSchema(field as z.ZodType);
    return {
      name,
      in: place,
      required: place === 'path' || !z.safeParse(field, undefined).success,
      ...(description !== undefined && { description }),
      schema,
    };
  });
}

/**
 * A schema in the document. Named parts, itself included, come back as references; what they refer
 * to is put into `schemas`.
 */
function hoist(schema: z.ZodType, schemas: Record<string, unknown>): Json {
  const { $schema, $defs, ...own } = z.toJSONSchema(schema, {
    io: 'output',
    override: ({ zodSchema, jsonSchema }) => {
      // Answers may gain fields, so a reader must not refuse those it does not know.
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
