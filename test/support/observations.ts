/** Lifecycles of resources as a service reports them: each entry is the content of one observation. */
import { createHash } from 'node:crypto';
import type { ResourceKind } from '../../src/contract/resources/index.ts';
import type {
  Observation,
  SnapshotContent,
  SnapshotSource,
} from '../../src/ledger/domain/snapshot.ts';

export const T0 = 1_793_527_200_000_000;
export const SECOND = 1_000_000;

export interface ObservationOptions {
  readonly kind?: ResourceKind;
  readonly id?: string;
  readonly source?: SnapshotSource;
  readonly observedMicros?: number;
}

/** An observation, hashed independently of the ledger's code. */
export function observe(content: SnapshotContent, options: ObservationOptions = {}): Observation {
  return {
    ref: { kind: options.kind ?? 'payment', id: options.id ?? 'pay_1' },
    content,
    contentHash: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
    source: options.source ?? 'webhook',
    observedMicros: options.observedMicros ?? T0,
    webhookEventId: undefined,
  };
}

const usd = { amountMinor: 100, currency: 'USD' } as const;
const manual = { ...usd, captureMethod: 'manual' } as const;

function at(seconds: number): { readonly versionMicros: number } {
  return { versionMicros: T0 + seconds * SECOND };
}

interface Lifecycle {
  readonly kind: ResourceKind;
  readonly observations: readonly SnapshotContent[];
  /** Index of the observation that has the resource's actual state. */
  readonly finalIndex: number;
}

/** Lifecycles that arrival order or last-write-wins would get wrong. */
export const LIFECYCLES: Readonly<Record<string, Lifecycle>> = {
  'two partial captures, then final': {
    kind: 'payment',
    observations: [
      {
        ...manual,
        status: 'requires_capture',
        amountCapturableMinor: 100,
        amountReceivedMinor: 0,
        ...at(1),
      },
      {
        ...manual,
        status: 'partially_captured_and_capturable',
        amountCapturableMinor: 70,
        amountReceivedMinor: 30,
        ...at(2),
      },
      {
        ...manual,
        status: 'partially_captured_and_capturable',
        amountCapturableMinor: 30,
        amountReceivedMinor: 70,
        ...at(2),
      },
      {
        ...manual,
        status: 'succeeded',
        amountCapturableMinor: 0,
        amountReceivedMinor: 100,
        ...at(3),
      },
    ],
    finalIndex: 3,
  },
  'an authorization that expires': {
    kind: 'payment',
    observations: [
      { ...manual, status: 'processing', ...at(1) },
      {
        ...manual,
        status: 'requires_capture',
        amountCapturableMinor: 100,
        amountReceivedMinor: 0,
        ...at(2),
      },
      { ...manual, status: 'expired', amountCapturableMinor: 0, amountReceivedMinor: 0, ...at(9) },
    ],
    finalIndex: 2,
  },
  'failed, retried, captured, voided': {
    kind: 'payment',
    observations: [
      { ...usd, status: 'failed', unifiedCode: 'UE_1001', ...at(2) },
      { ...usd, status: 'processing', ...at(3) },
      { ...usd, status: 'succeeded', amountReceivedMinor: 100, ...at(4) },
      { ...usd, status: 'cancelled_post_capture', amountReceivedMinor: 100, ...at(5) },
    ],
    finalIndex: 3,
  },
  'two captures with the same time': {
    kind: 'payment',
    observations: [
      {
        ...manual,
        status: 'requires_capture',
        amountCapturableMinor: 100,
        amountReceivedMinor: 0,
        ...at(1),
      },
      {
        ...manual,
        status: 'partially_captured_and_capturable',
        amountCapturableMinor: 70,
        amountReceivedMinor: 30,
        ...at(2),
      },
      {
        ...manual,
        status: 'partially_captured_and_capturable',
        amountCapturableMinor: 30,
        amountReceivedMinor: 70,
        ...at(2),
      },
    ],
    finalIndex: 2,
  },
  'only undated bodies': {
    kind: 'payment',
    observations: [
      { ...usd, status: 'processing' },
      { ...usd, status: 'failed', unifiedCode: 'UE_3003' },
      { ...usd, status: 'succeeded', orderId: 'ord_1' },
    ],
    finalIndex: 2,
  },
  'a refund that fails late': {
    kind: 'refund',
    observations: [
      { ...usd, status: 'pending', paymentId: 'pay_1', ...at(4) },
      { ...usd, status: 'succeeded', paymentId: 'pay_1', ...at(5) },
      { ...usd, status: 'failed', paymentId: 'pay_1', ...at(6) },
    ],
    finalIndex: 2,
  },
  'a dispute won, then opened again at the next stage': {
    kind: 'dispute',
    observations: [
      { ...usd, status: 'opened', stage: 'dispute', paymentId: 'pay_1', ...at(7) },
      { ...usd, status: 'won', stage: 'dispute', paymentId: 'pay_1', ...at(9) },
      { ...usd, status: 'opened', stage: 'pre_arbitration', paymentId: 'pay_1', ...at(8) },
    ],
    finalIndex: 2,
  },
  'a payout paid, then reversed': {
    kind: 'payout',
    observations: [
      { ...usd, status: 'initiated', ...at(1) },
      { ...usd, status: 'success', ...at(2) },
      { ...usd, status: 'reversed', ...at(3) },
    ],
    finalIndex: 2,
  },
};

/** Every order of the items. */
export function* permutations<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  const [first, ...rest] = items;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const tail of permutations(rest)) {
    for (let index = 0; index <= tail.length; index += 1) {
      yield [...tail.slice(0, index), first, ...tail.slice(index)];
    }
  }
}
