/**
 * The Express app: every endpoint of the contract's table, and the control routes.
 *
 * A request passes, in this order: origin check, key, rate limit, permission, fault, path, body, rule.
 * Faults come after the key check, so that a test with a wrong key fails for that reason only.
 */
import express, { type ErrorRequestHandler, type Request, type Response } from 'express';
import type { z } from 'zod';
import {
  API_KEY_HEADER,
  ENDPOINTS,
  type Endpoint,
  type EndpointName,
  problemsOf,
  RATE_LIMIT_HEADERS,
  type RequestProblem,
  readQuery,
} from '../../contract/index.ts';
import { errorHandler } from '../../platform/errorHandler.ts';
import { maskCardNumbers } from '../domain/cardNumbers.ts';
import type { Decision, Rejection } from '../domain/decision.ts';
import type { SandboxLog } from '../log.ts';
import { createControl } from '../routes/control/index.ts';
import { HANDLERS } from '../routes/handlers.ts';
import { createHostedPage } from '../routes/hostedPage.ts';
import { createLinkPages } from '../routes/linkPages.ts';
import type { Services } from '../services.ts';
import { forbid, identify } from './authenticate.ts';
import { bodyRejectionOf, formParser, runParser, textParser } from './body.ts';
import { failRequest, sendWithFault } from './faultyResponses.ts';
import { rejectBrowsers } from './guard.ts';
import { isStorable, readJson } from './json.ts';
import { readMultipart } from './multipart.ts';
import type { Budget } from './rateLimit.ts';
import { type ServiceLocals, sendRejection, sendServiceError } from './respond.ts';
import { tolerate } from './tolerate.ts';

export function createSandboxApp(services: Services, log: SandboxLog): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.use((_request, response, next) => {
    response.set('Date', new Date(services.shownClock.nowMs()).toUTCString());
    next();
  });
  app.use(rejectBrowsers);
  app.use(createHostedPage(services));
  app.use(createLinkPages(services));
  app.use(createControl(services));
  app.use((_request, response: Response<unknown, ServiceLocals>, next) => {
    response.locals.errorForm = services.faults.current().errors;
    next();
  });
  for (const name of inMatchingOrder()) addEndpoint(app, name, services);
  app.use(async (request: Request, response: Response) => {
    const caller = await identify(services, request.header(API_KEY_HEADER));
    setBudget(services, response, caller.value?.name ?? ANONYMOUS);
    const message = `There is no route ${request.method} ${request.path}.`;
    sendRejection(response, { status: 404, code: 'IR_05', message });
  });
  app.use(createErrorHandler(log));
  return app;
}

/** Fixed paths before those with parameters: in `/payments/list`, `list` is not a payment id. */
function inMatchingOrder(): readonly EndpointName[] {
  const names = Object.keys(ENDPOINTS) as EndpointName[];
  const parameters = (name: EndpointName) => ENDPOINTS[name].path.split(':').length;
  return names.toSorted((a, b) => parameters(a) - parameters(b));
}

function addEndpoint(app: express.Express, name: EndpointName, services: Services): void {
  const endpoint: Endpoint = ENDPOINTS[name];
  const method = endpoint.method.toLowerCase() as 'get' | 'post' | 'put' | 'delete';
  app[method](endpoint.path, async (request: Request, response: Response) => {
    const rejected = await admit(endpoint, services, request, response);
    if (rejected) {
      sendRejection(response, rejected);
      return;
    }
    const fault = services.faults.requests().choose(request.method, request.path);
    if (fault && failRequest(fault, request, response)) return;
    const call = await readCall(endpoint, services, request, response);
    if (call.rejection) {
      sendRejection(response, call.rejection);
      return;
    }
    const result = await HANDLERS[name](call.value, services);
    if (result.rejection) sendRejection(response, result.rejection);
    else sendWithFault(fault, request, response.status(endpoint.success), result.value);
  });
}

/** Requests without a valid key share a budget, which is reported and not enforced. */
const ANONYMOUS = 'nobody';

/**
 * Counts the request against the key's budget and reports what is left in the headers.
 * @returns why the request is rejected; undefined where it is admitted
 */
async function admit(
  endpoint: Endpoint,
  services: Services,
  request: Request,
  response: Response,
): Promise<Rejection | undefined> {
  const caller = await identify(services, request.header(API_KEY_HEADER));
  if (caller.rejection) {
    setBudget(services, response, ANONYMOUS);
    return caller.rejection;
  }
  const { isExceeded } = setBudget(services, response, caller.value.name);
  if (isExceeded) return { status: 429, code: 'RL_01', message: 'Rate limit exceeded.' };
  return forbid(caller.value, endpoint);
}

function setBudget({ faults, rateLimit }: Services, response: Response, caller: string): Budget {
  const budget = rateLimit.spend(caller);
  if (faults.current().no_rate_headers) return budget;
  response.set({
    [RATE_LIMIT_HEADERS.limit]: String(budget.limit),
    [RATE_LIMIT_HEADERS.remaining]: String(budget.remaining),
    [RATE_LIMIT_HEADERS.reset]: String(budget.resetSeconds),
  });
  return budget;
}

interface ReadCall {
  readonly params: unknown;
  readonly input: unknown;
}

/** Path parameters and the body or query, validated by the contract's schemas. */
async function readCall(
  endpoint: Endpoint,
  services: Services,
  request: Request,
  response: Response,
): Promise<Decision<ReadCall>> {
  const params = validate(endpoint.params, { ...request.params });
  // An invalid id names no resource: 404.
  if (params.rejection) {
    return { rejection: { ...params.rejection, status: 404, code: 'IR_05' } };
  }
  if (endpoint.body !== undefined) {
    const isForm = endpoint.encoding === 'multipart';
    await runParser(isForm ? formParser : textParser, request, response);
    const body = isForm ? await readMultipart(request) : readJson(String(request.body ?? ''));
    if (body.rejection) return body;
    const input = validateInput(endpoint, endpoint.body, body.value, services);
    if (input.rejection) return input;
    return { value: { params: params.value, input: withoutCardNumbers(input.value) } };
  }
  if (endpoint.query === undefined) return { value: { params: params.value, input: undefined } };
  const { searchParams } = new URL(request.url, 'http://sandbox');
  const isText = [...searchParams].flat().every(isStorable);
  if (!isText) return { rejection: { status: 400, code: 'IR_04', message: 'query: not text' } };
  const query = readQuery(endpoint.query, searchParams);
  const input = validateInput(endpoint, endpoint.query, query, services);
  return input.rejection ? input : { value: { params: params.value, input: input.value } };
}

/** Validates a body or query as leniently as the real service, unless `strict_requests` is on. */
function validateInput(
  endpoint: Endpoint,
  schema: z.ZodType,
  sent: unknown,
  { faults, ignoredFields }: Services,
): Decision<unknown> {
  if (faults.current().strict_requests) return validate(schema, sent);
  const rejectsNearMisses = schema === endpoint.body;
  const { value, ignored, problem } = tolerate(schema, sent, { rejectsNearMisses });
  if (problem !== undefined) return rejectProblem(problem);
  const validated = validate(schema, value);
  if (!validated.rejection) ignoredFields.record(endpoint, ignored);
  return validated;
}

/** Metadata must not hold card data: card numbers in it are masked. */
function withoutCardNumbers(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('metadata' in input)) return input;
  return { ...input, metadata: maskCardNumbers(input.metadata) };
}

function validate(schema: z.ZodType, value: unknown): Decision<unknown> {
  const [problem] = problemsOf(schema, value);
  if (problem === undefined) return { value: schema.parse(value) };
  return rejectProblem(problem);
}

function rejectProblem({ code, message }: RequestProblem): { readonly rejection: Rejection } {
  return { rejection: { status: 400, code, message } };
}

function createErrorHandler(log: SandboxLog): ErrorRequestHandler {
  return errorHandler((error, request, response) => {
    const rejection = rejectionOf(error);
    if (rejection !== undefined) {
      sendRejection(response, rejection);
      return;
    }
    log.error({ error, method: request.method, path: request.path }, 'sandbox.request_failed');
    sendServiceError(response, 500, 'Internal error.');
  });
}

/** The rejection for an error that the caller caused; undefined for errors of ours. */
function rejectionOf(error: unknown): Rejection | undefined {
  // A path that cannot be decoded names no route.
  if (error instanceof URIError) return { status: 404, code: 'IR_05', message: 'No such path.' };
  return bodyRejectionOf(error);
}
