/** The sandbox's control routes, as far as the demo needs them; see docs/reference/sandbox.md. */
import { z } from 'zod';
import type { ResourceKind } from '../contract/resources/index.ts';

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

export interface SandboxControl {
  setFaults(faults: object): Promise<void>;
  endFaults(): Promise<void>;
  allowRequestsPerMinute(count: number): Promise<void>;
  /** What the customer does on the hosted page. */
  actAsCustomer(paymentId: string): Promise<void>;
  openDispute(paymentId: string): Promise<string>;
  moveDispute(disputeId: string, status: 'won' | 'lost'): Promise<void>;
  moveRefund(refundId: string, status: 'failed'): Promise<void>;
  movePayout(payoutId: string, status: 'reversed'): Promise<void>;
  /** How far the service's clock was put forward. */
  clockAheadMs(): Promise<number>;
  advanceClock(ms: number): Promise<void>;
  /** Every event after a number. */
  events(afterSeq: number): Promise<readonly SandboxEvent[]>;
  resources(kind: ResourceKind): Promise<readonly ServiceResource[]>;
}

const PAGE_SIZE = 1_000;

export function createSandboxControl(baseUrl: string): SandboxControl {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${baseUrl}/_sandbox${path}`, {
      method,
      ...(body && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`the sandbox responded ${response.status} to ${method} ${path}: ${text}`);
    }
    return text === '' ? undefined : JSON.parse(text);
  };
  const at = (id: string): string => encodeURIComponent(id);
  return {
    setFaults: async (faults) => {
      await call('PUT', '/faults', faults);
    },
    endFaults: async () => {
      await call('DELETE', '/faults');
    },
    allowRequestsPerMinute: async (count) => {
      await call('PUT', '/rate_limit', { per_minute: count });
    },
    actAsCustomer: async (paymentId) => {
      await call('POST', `/payments/${at(paymentId)}/action`, { action: 'complete' });
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
    clockAheadMs: async () => {
      const clock = await call('GET', '/clock');
      return z.object({ advanced_ms: z.number() }).parse(clock).advanced_ms;
    },
    advanceClock: async (ms) => {
      await call('POST', '/clock/advance', { ms });
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
