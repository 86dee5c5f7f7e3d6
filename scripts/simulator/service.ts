/**
 * The model of the payment service: what customers did, its webhooks, and its responses.
 *
 * 1. Each change of a payment or refund is a version of it, with a later time than the one before, and one event.
 * 2. An event is sent until the receiver acknowledges it, later and later, for half an hour. During `webhooks
 *    lost` events are never sent.
 * 3. A response shows the resource as it is, or, while the service is stale, as it was some time before.
 */
import {
  type CallOptions,
  type PaymentServiceClient,
  PaymentServiceError,
} from '../../src/client/index.ts';
import type { PlannedPayment, PlannedStep } from './plan.ts';
import type { Random } from './random.ts';
import type { Actor, Scheduler } from './scheduler.ts';

export const MERCHANT_ID = 'merchant_simulated';

export interface ServiceObject {
  readonly kind: 'payment' | 'refund';
  readonly id: string;
  readonly orderId: string | undefined;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly versions: readonly { readonly atMs: number; readonly body: ServiceBody }[];
}

export interface ServiceBody {
  readonly status: string;
  readonly amount_received?: number;
  readonly [field: string]: unknown;
}

export interface ServiceEvent {
  readonly id: string;
  readonly body: Buffer;
  readonly about: string;
  readonly ref: { readonly kind: 'payment' | 'refund'; readonly id: string };
}

interface Stored extends Omit<ServiceObject, 'versions'> {
  readonly versions: { readonly atMs: number; readonly body: ServiceBody }[];
}

const CURRENCY = 'EUR';
const STALE_MS = 4_000;
const HOLD_MS = 40 * 60_000;

export interface ServiceParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly delayMs: () => number;
  /** Sends an event that no customer caused. */
  readonly send: (event: ServiceEvent) => void;
}

/** Names one request. */
interface Request {
  readonly actor: Actor;
  readonly kind: Stored['kind'];
  readonly id: string;
  readonly options: CallOptions | undefined;
}

type Failed = 'missing' | 'refused' | 'unavailable' | 'outcome_unknown';

export class Service {
  readonly #parts: ServiceParts;
  readonly #objects = new Map<string, Stored>();
  readonly #captures = new Map<string, number>();
  #micros = 0;
  #events = 0;
  #failsUntilMs = 0;
  #staleUntilMs = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** What a customer or the shop does. @returns the event about it; undefined if nothing changes */
  perform(payment: PlannedPayment, step: PlannedStep): ServiceEvent | undefined {
    const { name } = step.does;
    const endsHold = name === 'is captured' || name === 'is voided';
    if (endsHold && !isHeld(this.#objects.get(`payment ${payment.name}`))) return undefined;
    return performStep((object, fields) => this.#add(object, fields), payment, step);
  }

  objects(): readonly ServiceObject[] {
    return [...this.#objects.values()];
  }

  /** How many requests to capture each payment arrived. */
  captures(): ReadonlyMap<string, number> {
    return this.#captures;
  }

  failFor(ms: number): void {
    this.#failsUntilMs = this.#parts.scheduler.nowMs() + ms;
  }

  beStaleFor(ms: number): void {
    this.#staleUntilMs = this.#parts.scheduler.nowMs() + ms;
  }

  /** The client of an actor, with the calls that the simulated processes make. */
  client(actor: Actor): PaymentServiceClient {
    const retrieve =
      (kind: Stored['kind']) =>
      (id: string, _: object, options?: CallOptions): Promise<object> =>
        this.#request({ actor, kind, id, options }, () => this.#retrieve(kind, id));
    const calls = {
      payments: {
        retrieve: retrieve('payment'),
        capture: (id: string, _: object, options?: CallOptions) =>
          this.#request({ actor, kind: 'payment', id, options }, () => this.#capture(id)),
      },
      refunds: { retrieve: retrieve('refund') },
    };
    return calls as unknown as PaymentServiceClient;
  }

  /** Carries a request out at one instant; its response arrives at a later one. */
  #request({ actor, kind, id, options }: Request, work: () => ServiceBody | Failed) {
    const { scheduler, delayMs } = this.#parts;
    return new Promise<object>((resolve, reject) => {
      scheduler.inModel(delayMs(), () => {
        const result = work();
        const serviceTimeMs = Math.floor(scheduler.nowMs() / 1000) * 1000;
        scheduler.inActor(actor, delayMs(), () => {
          if (typeof result === 'string') return reject(errorOf(result, `${kind} ${id}`));
          options?.onResponse?.({ serviceTimeMs });
          resolve(result);
        });
      });
    });
  }

  #retrieve(kind: Stored['kind'], id: string): ServiceBody | Failed {
    const nowMs = this.#parts.scheduler.nowMs();
    if (nowMs < this.#failsUntilMs) return 'unavailable';
    const isStale = nowMs < this.#staleUntilMs;
    const shownMs = isStale ? nowMs - this.#parts.random() * STALE_MS : nowMs;
    const shown = this.#objects
      .get(`${kind} ${id}`)
      ?.versions.filter(({ atMs }) => atMs <= shownMs);
    return shown?.at(-1)?.body ?? 'missing';
  }

  #capture(id: string): ServiceBody | Failed {
    const { scheduler, random, send } = this.#parts;
    this.#captures.set(id, (this.#captures.get(id) ?? 0) + 1);
    const isFailing = scheduler.nowMs() < this.#failsUntilMs;
    if (isFailing && random() < 0.5) return 'unavailable';
    const payment = this.#objects.get(`payment ${id}`);
    if (!payment || !isHeld(payment)) return 'refused';
    const money = { amount_received: payment.amountMinor, amount_capturable: 0 };
    send(this.#add(payment, { status: 'succeeded', ...money, capture_method: 'manual' }));
    return isFailing ? 'outcome_unknown' : (payment.versions.at(-1)?.body ?? 'refused');
  }

  #add(object: Omit<Stored, 'versions'>, fields: ServiceBody): ServiceEvent {
    const { scheduler } = this.#parts;
    const key = `${object.kind} ${object.id}`;
    const known = this.#objects.get(key) ?? { ...object, versions: [] };
    this.#objects.set(key, known);
    const { kind, id, paymentId, amountMinor, orderId } = known;
    const modified = this.#timestamp();
    const created = String(known.versions[0]?.body.created ?? modified);
    const holdEnd = new Date(scheduler.nowMs() + HOLD_MS).toISOString();
    const body: ServiceBody = {
      ...(kind === 'payment' ? { payment_id: id } : { refund_id: id, payment_id: paymentId }),
      merchant_id: MERCHANT_ID,
      amount: amountMinor,
      currency: CURRENCY,
      created,
      modified_at: modified,
      ...(fields.status === 'requires_capture' && { capture_before: holdEnd }),
      ...(kind === 'payment' && orderId !== undefined && { metadata: { order_id: orderId } }),
      ...fields,
    };
    known.versions.push({ atMs: scheduler.nowMs(), body });
    this.#events += 1;
    const event = {
      merchant_id: MERCHANT_ID,
      event_id: `evt_${this.#events}`,
      event_type: `${kind}_${fields.status}`,
      content: { type: `${kind}_details`, object: body },
      timestamp: modified,
    };
    const text = Buffer.from(JSON.stringify(event));
    return { id: event.event_id, body: text, about: `${key} ${fields.status}`, ref: { kind, id } };
  }

  /** Later than every one before. */
  #timestamp(): string {
    this.#micros = (this.#micros + 1) % 1_000;
    const iso = new Date(this.#parts.scheduler.nowMs()).toISOString();
    return `${iso.slice(0, -1)}${String(this.#micros).padStart(3, '0')}Z`;
  }
}

function isHeld(payment: Stored | undefined): boolean {
  return payment?.versions.at(-1)?.body.status === 'requires_capture';
}

function errorOf(failed: Failed, operation: string): PaymentServiceError {
  switch (failed) {
    case 'missing':
      return new PaymentServiceError('refused', {
        operation,
        message: 'no such resource',
        httpStatus: 404,
        code: 'HE_02',
      });
    case 'refused':
      return new PaymentServiceError('refused', {
        operation,
        message: 'it is not held',
        httpStatus: 409,
        code: 'IR_14',
      });
    case 'unavailable':
      return new PaymentServiceError('unavailable', {
        operation,
        message: 'the service fails',
        httpStatus: 503,
        code: 'HE_00',
      });
    case 'outcome_unknown':
      return new PaymentServiceError('outcome_unknown', {
        operation,
        message: 'no response',
        outcomeUnknown: true,
      });
  }
}

type Add = (object: Omit<Stored, 'versions'>, fields: ServiceBody) => ServiceEvent;

function performStep(add: Add, payment: PlannedPayment, { does }: PlannedStep): ServiceEvent {
  const { name: id, order: orderId, amountMinor } = payment;
  const own = { kind: 'payment', id, orderId, paymentId: id, amountMinor } as const;
  const refundOf = (number: number) =>
    ({ ...own, kind: 'refund', id: `ref_${id.slice(4)}_${number}` }) as const;
  const isManual = payment.steps.some((step) => step.does.name === 'is authorized');
  const money = (received: number, capturable: number) => ({
    amount_received: received,
    amount_capturable: capturable,
    capture_method: isManual ? 'manual' : 'automatic',
  });
  switch (does.name) {
    case 'begins':
      return add(own, { status: 'processing', ...money(0, 0) });
    case 'fails':
      return add(own, { status: 'failed', ...money(0, 0), error_code: 'card_declined' });
    case 'is authorized':
      return add(own, { status: 'requires_capture', ...money(0, amountMinor) });
    case 'succeeds':
    case 'is captured':
      return add(own, { status: 'succeeded', ...money(amountMinor, 0) });
    case 'is voided':
      return add(own, { status: 'cancelled', ...money(0, 0) });
    case 'is refunded':
      return add(
        { ...refundOf(does.number), amountMinor: does.amountMinor },
        { status: 'pending' },
      );
    case 'refund succeeds':
      return add(refundOf(does.number), { status: 'succeeded' });
    case 'refund fails':
      return add(refundOf(does.number), { status: 'failed', error_message: 'refused by the bank' });
  }
}
