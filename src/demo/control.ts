/** The sandbox's control routes, as far as the demo and the console need them; see docs/reference/sandbox.md. */
import { z } from 'zod';
import { RESOURCE_KINDS, type ResourceKind } from '../contract/resources/index.ts';
import type { DisputeStatus } from '../contract/statuses.ts';
import { toError } from '../platform/errors.ts';
import { faultsSchema, type SandboxFaults } from './namedFaults.ts';

const eventSchema = z.object({
  seq: z.number(),
  object_id: z.string(),
  /** Requests made, how many got a 2xx response, and how many are still due. */
  sent: z.number(),
  acknowledged: z.number(),
  waiting: z.number(),
});
export type SandboxEvent = z.infer<typeof eventSchema>;

/** A resource at the service: the object that a retrieve returns. */
export type ServiceResource = Readonly<Record<string, unknown>>;

const eventsPage = z.object({ data: z.array(eventSchema), next_after: z.number().nullable() });
const resourcesPage = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  next_after: z.string().nullable(),
});

const recentSchema = z.object({
  kind: z.enum(RESOURCE_KINDS),
  id: z.string(),
  order_id: z.string().nullable(),
  resource: z.record(z.string(), z.unknown()),
  events: z.array(
    z.object({
      event_id: z.string(),
      event_type: z.string(),
      deliveries: z.array(
        z.object({
          reason: z.string(),
          due: z.string(),
          sent: z.string().nullable(),
          http_status: z.number().nullable(),
        }),
      ),
    }),
  ),
});
/** A resource that changed lately, with its events and their deliveries. */
export type RecentResource = z.infer<typeof recentSchema>;

const clockSchema = z.object({ now: z.string(), advanced_ms: z.number() });

/** What becomes of an open dispute. */
export type DisputeMove = Exclude<DisputeStatus, 'opened'>;

export interface SandboxControl {
  faults(): Promise<SandboxFaults>;
  setFaults(faults: object): Promise<void>;
  endFaults(): Promise<void>;
  allowRequestsPerMinute(count: number): Promise<void>;
  /** What the customer does on the hosted page. */
  actAsCustomer(paymentId: string, action?: 'complete' | 'fail' | 'abandon'): Promise<void>;
  /** Ends a manual authorization before its time. */
  lapse(paymentId: string): Promise<void>;
  openDispute(paymentId: string): Promise<string>;
  moveDispute(disputeId: string, status: DisputeMove): Promise<void>;
  moveRefund(refundId: string, status: 'succeeded' | 'failed'): Promise<void>;
  movePayout(
    payoutId: string,
    status: 'success' | 'failed' | 'expired' | 'reversed',
  ): Promise<void>;
  /** How far the service's clock was put forward. */
  clock(): Promise<{ readonly now: string; readonly aheadMs: number }>;
  /** Runs everything that falls due until then. */
  advanceClock(ms: number): Promise<void>;
  /** Sends the webhooks that are due. */
  settle(): Promise<void>;
  /** The last change first. @param wanted `orderId`: only of this order */
  recent(wanted: {
    readonly orderId?: string | undefined;
    readonly limit: number;
  }): Promise<readonly RecentResource[]>;
  /** Every event after a number. */
  events(afterSeq: number): Promise<readonly SandboxEvent[]>;
  resources(kind: ResourceKind): Promise<readonly ServiceResource[]>;
}

/** A control route refused. */
export class SandboxError extends Error {
  readonly httpStatus: number;
  /** What the sandbox stated, for people. */
  readonly reason: string;

  constructor(message: string, { httpStatus, reason }: { httpStatus: number; reason: string }) {
    super(message);
    this.httpStatus = httpStatus;
    this.reason = reason;
  }
}

/** Nothing responds at the address. */
export class SandboxUnreachableError extends Error {}

const errorSchema = z.object({ error: z.object({ message: z.string() }) });

function messageIn(text: string): string {
  try {
    return errorSchema.parse(JSON.parse(text)).error.message;
  } catch {
    return text;
  }
}

const PAGE_SIZE = 1_000;
/** Reads are short. Other routes wait for receivers, or run what falls due in years. */
const READ_TIMEOUT_MS = 30_000;

async function request(url: string, method: string, body: object | undefined) {
  try {
    const response = await fetch(url, {
      method,
      ...(method === 'GET' && { signal: AbortSignal.timeout(READ_TIMEOUT_MS) }),
      ...(body && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    return { ok: response.ok, status: response.status, text: await response.text() };
  } catch (thrown) {
    const { message, cause } = toError(thrown);
    throw new SandboxUnreachableError(cause ? toError(cause).message : message, { cause: thrown });
  }
}

export function createSandboxControl(baseUrl: string): SandboxControl {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const { ok, status, text } = await request(`${baseUrl}/_sandbox${path}`, method, body);
    if (!ok) {
      throw new SandboxError(`the sandbox responded ${status} to ${method} ${path}: ${text}`, {
        httpStatus: status,
        reason: messageIn(text),
      });
    }
    return text === '' ? undefined : JSON.parse(text);
  };
  const at = (id: string): string => encodeURIComponent(id);
  return {
    faults: async () => faultsSchema.parse(await call('GET', '/faults')),
    setFaults: async (faults) => {
      await call('PUT', '/faults', faults);
    },
    endFaults: async () => {
      await call('DELETE', '/faults');
    },
    allowRequestsPerMinute: async (count) => {
      await call('PUT', '/rate_limit', { per_minute: count });
    },
    actAsCustomer: async (paymentId, action = 'complete') => {
      await call('POST', `/payments/${at(paymentId)}/action`, { action });
    },
    lapse: async (paymentId) => {
      await call('POST', `/payments/${at(paymentId)}/lapse`);
    },
    openDispute: async (paymentId) => {
      const dispute = await call('POST', '/disputes', { payment_id: paymentId });
      return z.object({ dispute_id: z.string() }).parse(dispute).dispute_id;
    },
    moveDispute: async (disputeId, status) => {
      await call('POST', `/disputes/${at(disputeId)}/move`, { status });
    },
    moveRefund: async (refundId, status) => {
      await call('POST', `/refunds/${at(refundId)}/move`, { status });
    },
    movePayout: async (payoutId, status) => {
      await call('POST', `/payouts/${at(payoutId)}/move`, { status });
    },
    clock: async () => {
      const { now, advanced_ms: aheadMs } = clockSchema.parse(await call('GET', '/clock'));
      return { now, aheadMs };
    },
    advanceClock: async (ms) => {
      await call('POST', '/clock/advance', { ms });
    },
    settle: async () => {
      await call('POST', '/settle');
    },
    recent: async ({ orderId, limit }) => {
      const query = new URLSearchParams({ limit: String(limit) });
      if (orderId !== undefined) query.set('order_id', orderId);
      const page = z.object({ data: z.array(recentSchema) });
      return page.parse(await call('GET', `/recent?${query}`)).data;
    },
    events: async (afterSeq) => {
      const all: SandboxEvent[] = [];
      for (let after: number | null = afterSeq; after !== null; ) {
        const path = `/webhooks?after=${after}&limit=${PAGE_SIZE}`;
        const page = eventsPage.parse(await call('GET', path));
        all.push(...page.data);
        after = page.data.length === PAGE_SIZE ? page.next_after : null;
      }
      return all;
    },
    resources: async (kind) => {
      const all: ServiceResource[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const path = `/resources/${kind}?after=${at(after)}&limit=${PAGE_SIZE}`;
        const page = resourcesPage.parse(await call('GET', path));
        all.push(...page.data);
        after = page.data.length === PAGE_SIZE ? page.next_after : null;
      }
      return all;
    },
  };
}
