/**
 * A payment service of a few routes over real HTTP, with faults on demand. It counts what it charges
 * and refunds: these counts, not the client, show whether something happened twice.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type ClientOptions, createClient } from '../../src/client/index.ts';
import type { ClientTime } from '../../src/client/time.ts';

export const API_KEY = 'snd_0123456789abcdef';

/** A fault; each one applies to one request. */
export type Fault =
  /** A response without any processing. */
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The connection ends, before or after the work. */
  | { readonly kind: 'cutBefore' | 'cutAfter' }
  /** The request is processed and half of the response arrives. */
  | { readonly kind: 'cutWithin' }
  /** The request is processed and a proxy responds instead. */
  | { readonly kind: 'failAfter'; readonly status: number }
  /** The request is processed and no response arrives. */
  | { readonly kind: 'hangAfter' }
  /** The request is processed and the response is an HTML page. */
  | { readonly kind: 'pageAfter' };

/** One request, as it arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly apiKey: string | undefined;
}

export interface PaymentService {
  readonly baseUrl: string;
  readonly received: readonly Received[];
  /** Charges, captures and refunds carried out. */
  readonly charges: readonly string[];
  readonly captures: readonly string[];
  readonly refunds: readonly string[];
  /** For the next requests, one each. */
  readonly fail: (...faults: readonly Fault[]) => void;
  /** Discards the faults that did not happen. */
  readonly heal: () => void;
  /** The rejection of a second create with one id. */
  existsStatus: number;
  /** This many retrieves return "not found" first, as from a replica that lags. */
  hiddenReads: number;
  /** Set to return the same response to every request. */
  always:
    | ((request: Received) => { status: number; body: unknown; headers?: Record<string, string> })
    | undefined;
}

/** A time that advances only during waits. */
export interface FakeTime extends ClientTime {
  readonly waitsMs: readonly number[];
}

export function createFakeTime(startMs = Date.UTC(2026, 0, 1)): FakeTime {
  let nowMs = startMs;
  const waitsMs: number[] = [];
  return {
    waitsMs,
    nowMs: () => nowMs,
    sleep: async (delayMs, signal) => {
      if (signal.aborted) return;
      waitsMs.push(delayMs);
      const untilMs = nowMs + delayMs;
      // Waits that begin together end together.
      await setImmediate();
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}

/** A client of `service` with waits that end at once. */
export function clientOf(service: PaymentService, options: Partial<ClientOptions> = {}) {
  return createClient({
    baseUrl: service.baseUrl,
    apiKey: API_KEY,
    time: createFakeTime(),
    random: () => 0.5,
    ...options,
  });
}

const envelope = (type: string, code: string) => ({ error: { type, code, message: code } });

export async function startPaymentService(): Promise<PaymentService> {
  const faults: Fault[] = [];
  const received: Received[] = [];
  const payments = new Map<string, Record<string, unknown>>();
  const refunds = new Map<string, Record<string, unknown>>();
  const done = { charges: [] as string[], captures: [] as string[], refunds: [] as string[] };
  const service: PaymentService = {
    baseUrl: '',
    received,
    ...done,
    fail: (...more) => void faults.push(...more),
    heal: () => void faults.splice(0),
    existsStatus: 409,
    hiddenReads: 0,
    always: undefined,
  };

  const create = (body: Record<string, unknown>) => {
    const id = String(body.payment_id ?? `pay_${payments.size + 1}`);
    if (payments.has(id)) {
      return { status: service.existsStatus, body: envelope('invalid_request', 'HE_01') };
    }
    const { amount, currency, metadata, capture_method } = body;
    const isHeld = typeof capture_method === 'string' && capture_method !== 'automatic';
    payments.set(id, {
      payment_id: id,
      status: isHeld ? 'requires_capture' : 'succeeded',
      amount,
      amount_received: isHeld ? 0 : amount,
      amount_capturable: isHeld ? amount : 0,
      capture_method,
      currency,
      metadata,
    });
    done.charges.push(id);
    return { status: 200, body: payments.get(id) };
  };

  const capture = (id: string) => {
    const held = payments.get(id);
    if (held?.capture_method !== undefined && held.status !== 'requires_capture') {
      return { status: 409, body: envelope('invalid_request', 'IR_14') };
    }
    done.captures.push(id);
    const captured = {
      ...held,
      payment_id: id,
      status: 'succeeded',
      ...(held && { amount_received: held.amount, amount_capturable: 0 }),
    };
    if (held !== undefined) {
      payments.set(id, captured);
    }
    return { status: 200, body: captured };
  };

  const refund = (body: Record<string, unknown>) => {
    const id = String(body.refund_id ?? `ref_${refunds.size + 1}`);
    const { payment_id, amount } = body;
    refunds.set(id, { refund_id: id, payment_id, amount, status: 'succeeded' });
    done.refunds.push(id);
    return { status: 200, body: refunds.get(id) };
  };

  const read = (found: unknown) => {
    if (service.hiddenReads > 0) service.hiddenReads -= 1;
    else if (found !== undefined) return { status: 200, body: found };
    return { status: 404, body: envelope('invalid_request', 'IR_05') };
  };

  const work = (request: Received): { status: number; body: unknown; headers?: object } => {
    const { method, path, body } = request;
    if (service.always) return service.always(request);
    const route = `${method} ${path}`;
    const id = decodeURIComponent(path.split('/')[2] ?? '');
    if (route === 'POST /payments') return create(body as Record<string, unknown>);
    if (route === 'POST /refunds') return refund(body as Record<string, unknown>);
    if (/^GET \/payments\/[^/]+$/.test(route)) return read(payments.get(id));
    if (/^GET \/refunds\/[^/]+$/.test(route)) return read(refunds.get(id));
    if (/^POST \/payments\/[^/]+\/capture$/.test(route)) {
      return capture(id);
    }
    if (route === 'GET /health') return { status: 200, body: {} };
    return { status: 404, body: envelope('invalid_request', 'IR_05') };
  };

  const reply = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const arrived = await readRequest(request);
    received.push(arrived);
    const fault = faults.shift();
    if (fault?.kind === 'response') {
      reply(response, fault.status, fault.body, fault.headers);
      return;
    }
    if (fault?.kind === 'cutBefore') {
      request.socket.destroy();
      return;
    }
    const { status, body, headers } = work(arrived);
    if (fault === undefined) reply(response, status, body, headers);
    else failAfter(fault, response);
  };

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(service, { baseUrl: `http://127.0.0.1:${port}` });
}

function failAfter(fault: Fault, response: ServerResponse): void {
  switch (fault.kind) {
    case 'failAfter':
      response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      break;
    case 'pageAfter':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
      break;
    case 'cutWithin':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"payment_id":', () => response.socket?.destroy());
      break;
    case 'hangAfter':
      break;
    default:
      response.socket?.destroy();
  }
}

async function readRequest(request: IncomingMessage): Promise<Received> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    body: text === '' ? undefined : JSON.parse(text),
    apiKey: request.headers['api-key'] as string | undefined,
  };
}
