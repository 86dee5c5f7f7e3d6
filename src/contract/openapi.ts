/**
 * The service's interface as OpenAPI 3.1, built from the table of endpoints.
 * `npm run generate` writes it to docs/openapi-service.json.
 */
import { z } from 'zod';
import { COMMON_ERRORS, ENDPOINTS, type Endpoint, type EndpointError } from './endpoints/index.ts';
import { errorEnvelopeSchema, HTTP_STATUSES } from './errors.ts';
import { API_KEY_HEADER, RATE_LIMIT_HEADERS } from './limits.ts';
import {
  billingRequest,
  browserInfoRequest,
  payoutBillingRequest,
} from './requests/customerContext.ts';
import { customerAddressRequest } from './requests/customers.ts';
import { jsonValue } from './requests/fields.ts';
import { paymentMethodDataRequest } from './requests/paymentMethod.ts';
import { bankTransferRequest, payoutMethodDataRequest } from './requests/payoutMethod.ts';
import { metricsSchema } from './resources/analytics.ts';
import { apiKeySchema } from './resources/apiKey.ts';
import { customerSchema } from './resources/customer.ts';
import { disputeSchema } from './resources/dispute.ts';
import { evidenceResultSchema } from './resources/evidence.ts';
import { billingSchema, customerDetailsSchema } from './resources/fields.ts';
import { paymentSchema } from './resources/payment.ts';
import { paymentLinkSchema } from './resources/paymentLink.ts';
import { payoutSchema } from './resources/payout.ts';
import { refundSchema } from './resources/refund.ts';

type Json = Readonly<Record<string, unknown>>;

/** Named parts of the document: what is sent, and what is answered. */
interface Names {
  readonly sent: ReturnType<typeof z.registry<{ id: string }>>;
  readonly answered: ReturnType<typeof z.registry<{ id: string }>>;
}

const endpoints = Object.entries(ENDPOINTS) as [string, Endpoint][];

/** Parts that several requests share. */
const SENT_PARTS: Readonly<Record<string, z.ZodType>> = {
  BankTransfer: bankTransferRequest,
  BillingRequest: billingRequest,
  BrowserInfo: browserInfoRequest,
  CustomerAddress: customerAddressRequest,
  JsonValue: jsonValue,
  PaymentMethodData: paymentMethodDataRequest,
  PayoutBillingRequest: payoutBillingRequest,
  PayoutMethodData: payoutMethodDataRequest,
};

/** The resources, and parts that several of them share. */
const ANSWERED_PARTS: Readonly<Record<string, z.ZodType>> = {
  ApiKey: apiKeySchema,
  Billing: billingSchema,
  Customer: customerSchema,
  CustomerDetails: customerDetailsSchema,
  Dispute: disputeSchema,
  Error: errorEnvelopeSchema,
  EvidenceResult: evidenceResultSchema,
  Metrics: metricsSchema,
  Payment: paymentSchema,
  PaymentLink: paymentLinkSchema,
  Payout: payoutSchema,
  Refund: refundSchema,
};

/** Builds the document. */
export function buildServiceOpenApi(): Json {
  const names = nameParts();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, endpoint] of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: describeEndpoint(name, endpoint, names),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment service',
      version: '1',
      description:
        'What Tallyhook expects of the payment service: amounts are integers in minor units beside ' +
        'their currency, times are ISO 8601. Answers may lack fields, hold null and gain fields; ' +
        'what is sent may hold nothing that is not named here.',
    },
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: API_KEY_HEADER } },
      headers: describeHeaders(),
      responses: Object.fromEntries(
        describeErrors(COMMON_ERRORS).map(([status, response]) => [commonName(status), response]),
      ),
      schemas: sorted({
        ...toSchemas(names.sent, 'input'),
        ...toSchemas(names.answered, 'output'),
      }),
    },
  };
}

function nameParts(): Names {
  const names: Names = { sent: z.registry(), answered: z.registry() };
  for (const [id, part] of Object.entries(SENT_PARTS)) names.sent.add(part, { id });
  for (const [id, part] of Object.entries(ANSWERED_PARTS)) names.answered.add(part, { id });
  for (const [name, { body, response }] of endpoints) {
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    if (body && !names.sent.has(body)) names.sent.add(body, { id: `${title}Request` });
    if (!names.answered.has(response)) names.answered.add(response, { id: `${title}Response` });
  }
  return names;
}

function describeEndpoint(name: string, endpoint: Endpoint, names: Names): Json {
  const { summary, params, query, body, response, success, errors, repetition } = endpoint;
  const type = endpoint.encoding === 'multipart' ? 'multipart/form-data' : JSON_TYPE;
  return {
    operationId: name,
    summary,
    'x-repetition': repetition,
    parameters: [...parametersIn('path', params), ...(query ? parametersIn('query', query) : [])],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: contentOf(names.sent.get(body)?.id, type),
      },
    }),
    responses: Object.fromEntries([
      [success, answer(HTTP_STATUSES[success], names.answered.get(response)?.id)],
      ...commonAnswers(),
      ...describeErrors(withCommon(errors)),
    ]),
  };
}

function commonName(status: number): string {
  return `Common${status}`;
}

function commonAnswers(): readonly (readonly [number, Json])[] {
  return COMMON_ERRORS.map(({ status }) => [
    status,
    { $ref: `#/components/responses/${commonName(status)}` },
  ]);
}

/** An endpoint's own errors, and the common ones of the same statuses. */
function withCommon(errors: readonly EndpointError[]): readonly EndpointError[] {
  const own = new Set(errors.map(({ status }) => status));
  return [...COMMON_ERRORS.filter(({ status }) => own.has(status)), ...errors];
}

/** One answer a status, with every code that comes with it. */
function describeErrors(errors: readonly EndpointError[]): readonly (readonly [number, Json])[] {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return statuses.map((status) => {
    const codes = errors
      .filter((error) => error.status === status)
      .map(({ code, when }) => `${code}: ${when}`);
    return [status, answer(codes.join(' '), 'Error')] as const;
  });
}

function answer(description: string, part: string | undefined): Json {
  const headers = Object.values(RATE_LIMIT_HEADERS).map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]);
  return { description, headers: Object.fromEntries(headers), content: contentOf(part) };
}

const JSON_TYPE = 'application/json';

function contentOf(part: string | undefined, type = JSON_TYPE): Json {
  return { [type]: { schema: { $ref: `#/components/schemas/${part}` } } };
}

function describeHeaders(): Json {
  const header = (description: string) => ({ description, schema: { type: 'integer' } });
  return {
    [RATE_LIMIT_HEADERS.limit]: header('Requests a minute.'),
    [RATE_LIMIT_HEADERS.remaining]: header('Requests left in this window.'),
    [RATE_LIMIT_HEADERS.reset]: header('Unix time in seconds when the window starts anew.'),
  };
}

function parametersIn(place: 'path' | 'query', { shape }: z.ZodObject): readonly Json[] {
  return Object.entries(shape).map(([name, field]) => {
    const { $schema, ...schema } = z.toJSONSchema(field as z.ZodType, { io: 'input' });
    const isList = schema.type === 'array';
    return {
      name,
      in: place,
      required: place === 'path',
      // Several values are separated by commas; see query.ts.
      ...(isList && { style: 'form', explode: false }),
      schema,
    };
  });
}

function toSchemas(registry: Names['sent'], io: 'input' | 'output'): Json {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    // Answers may gain fields: that needs no words in each of them.
    override: ({ jsonSchema }) => {
      if (JSON.stringify(jsonSchema.additionalProperties) === '{}') {
        delete jsonSchema.additionalProperties;
      }
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]),
  );
}

function sorted(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}
