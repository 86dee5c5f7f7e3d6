/** Builds the OpenAPI document of the payment service from the table of endpoints. */
import { z } from 'zod';
import {
  COMMON_ERRORS,
  ENDPOINTS,
  type Endpoint,
  type EndpointError,
} from '../../src/contract/endpoints/index.ts';
import { errorEnvelopeSchema, HTTP_STATUSES } from '../../src/contract/errors.ts';
import { API_KEY_HEADER, RATE_LIMIT_HEADERS } from '../../src/contract/limits.ts';
import {
  billingRequest,
  browserInfoRequest,
  payoutBillingRequest,
} from '../../src/contract/requests/customerContext.ts';
import { customerAddressRequest } from '../../src/contract/requests/customers.ts';
import { jsonValue } from '../../src/contract/requests/fields.ts';
import { paymentMethodDataRequest } from '../../src/contract/requests/paymentMethod.ts';
import {
  bankTransferRequest,
  payoutMethodDataRequest,
} from '../../src/contract/requests/payoutMethod.ts';
import { metricsSchema } from '../../src/contract/resources/analytics.ts';
import { apiKeySchema } from '../../src/contract/resources/apiKey.ts';
import { customerSchema } from '../../src/contract/resources/customer.ts';
import { disputeSchema } from '../../src/contract/resources/dispute.ts';
import { evidenceResultSchema } from '../../src/contract/resources/evidence.ts';
import { billingSchema, customerDetailsSchema } from '../../src/contract/resources/fields.ts';
import { paymentSchema } from '../../src/contract/resources/payment.ts';
import { paymentLinkSchema } from '../../src/contract/resources/paymentLink.ts';
import { payoutSchema } from '../../src/contract/resources/payout.ts';
import { refundSchema } from '../../src/contract/resources/refund.ts';
import { contentOf, type Json, parametersIn, pathsOf, refTo, sortByName } from './document.ts';

/** Named schemas of requests and responses. */
interface Names {
  readonly requests: ReturnType<typeof z.registry<{ id: string }>>;
  readonly responses: ReturnType<typeof z.registry<{ id: string }>>;
}

const endpoints = Object.entries(ENDPOINTS) as [string, Endpoint][];

/** Parts that several requests share. */
const REQUEST_PARTS: Readonly<Record<string, z.ZodType>> = {
  BankTransfer: bankTransferRequest,
  BillingRequest: billingRequest,
  BrowserInfo: browserInfoRequest,
  CustomerAddress: customerAddressRequest,
  JsonValue: jsonValue,
  PaymentMethodData: paymentMethodDataRequest,
  PayoutBillingRequest: payoutBillingRequest,
  PayoutMethodData: payoutMethodDataRequest,
};

/** Resources, and parts that several of them share. */
const RESPONSE_PARTS: Readonly<Record<string, z.ZodType>> = {
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

export function buildServiceOpenApi(): Json {
  const names = nameParts();
  const operations = endpoints.map(([name, endpoint]) => ({
    path: endpoint.path.replaceAll(/:(\w+)/g, '{$1}'),
    method: endpoint.method.toLowerCase(),
    description: describeEndpoint(name, endpoint, names),
  }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Payment service',
      version: '1',
      description:
        'The payment service as Tallyhook expects it. Amounts are integers in minor units with their ' +
        'currency, times are ISO 8601. Responses may lack fields, contain null and gain fields; ' +
        'requests must not have other fields than these.',
    },
    security: [{ key: [] }],
    paths: pathsOf(operations),
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: API_KEY_HEADER } },
      headers: describeHeaders(),
      responses: Object.fromEntries(
        describeErrors(COMMON_ERRORS).map(([status, response]) => [commonName(status), response]),
      ),
      schemas: sortByName({
        ...toSchemas(names.requests, 'input'),
        ...toSchemas(names.responses, 'output'),
      }),
    },
  };
}

function nameParts(): Names {
  const names: Names = { requests: z.registry(), responses: z.registry() };
  for (const [id, part] of Object.entries(REQUEST_PARTS)) names.requests.add(part, { id });
  for (const [id, part] of Object.entries(RESPONSE_PARTS)) names.responses.add(part, { id });
  for (const [name, { body, response }] of endpoints) {
    const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    if (body && !names.requests.has(body)) names.requests.add(body, { id: `${title}Request` });
    if (!names.responses.has(response)) names.responses.add(response, { id: `${title}Response` });
  }
  return names;
}

function describeEndpoint(name: string, endpoint: Endpoint, names: Names): Json {
  const { summary, params, query, body, response, success, errors, repetition } = endpoint;
  const type = endpoint.encoding === 'multipart' ? 'multipart/form-data' : undefined;
  return {
    operationId: name,
    summary,
    'x-repetition': repetition,
    parameters: [
      ...parametersIn('path', params, toSchema),
      ...(query ? parametersIn('query', query, toSchema) : []),
    ],
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: contentOf(refTo('schemas', String(names.requests.get(body)?.id)), type),
      },
    }),
    responses: Object.fromEntries([
      [success, responseOf(HTTP_STATUSES[success], String(names.responses.get(response)?.id))],
      ...commonResponses(),
      ...describeErrors(withCommon(errors)),
    ]),
  };
}

function commonName(status: number): string {
  return `Common${status}`;
}

function commonResponses(): readonly (readonly [number, Json])[] {
  return COMMON_ERRORS.map(({ status }) => [status, refTo('responses', commonName(status))]);
}

/** An endpoint's own errors, and the common ones of the same statuses. */
function withCommon(errors: readonly EndpointError[]): readonly EndpointError[] {
  const own = new Set(errors.map(({ status }) => status));
  return [...COMMON_ERRORS.filter(({ status }) => own.has(status)), ...errors];
}

/** One response for each status, with all its codes. */
function describeErrors(errors: readonly EndpointError[]): readonly (readonly [number, Json])[] {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return statuses.map((status) => {
    const codes = errors
      .filter((error) => error.status === status)
      .map(({ code, when }) => `${code}: ${when}`);
    return [status, responseOf(codes.join(' '), 'Error')] as const;
  });
}

function responseOf(description: string, part: string): Json {
  const headers = Object.values(RATE_LIMIT_HEADERS).map((name) => [name, refTo('headers', name)]);
  return {
    description,
    headers: Object.fromEntries(headers),
    content: contentOf(refTo('schemas', part)),
  };
}

function describeHeaders(): Json {
  const header = (description: string) => ({ description, schema: { type: 'integer' } });
  return {
    [RATE_LIMIT_HEADERS.limit]: header('Requests a minute.'),
    [RATE_LIMIT_HEADERS.remaining]: header('Requests left in this window.'),
    [RATE_LIMIT_HEADERS.reset]: header('Unix time in seconds at which the next window starts.'),
  };
}

function toSchema(field: z.ZodType): Json {
  return z.toJSONSchema(field, { io: 'input' });
}

function toSchemas(registry: Names['requests'], io: 'input' | 'output'): Json {
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    // Responses may gain fields, which need not be repeated in each schema.
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
