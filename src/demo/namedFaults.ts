/**
 * Faults of the sandbox by name, with what they teach. The sandbox has more of them, which only its control
 * routes set; those stay as they are. Pure.
 */
import { z } from 'zod';

const share = z.number();

/** The faults of the sandbox, as far as they have names here. Everything else is kept as it is. */
export const faultsSchema = z.looseObject({
  webhooks: z.looseObject({
    drop: share,
    duplicate: share,
    delay: share,
    reorder: share,
    corrupt_signature: share,
    late_copy: share,
    changed_copy: share,
    short_objects: share,
  }),
  payments: z.looseObject({ processing_first: share, surcharge: share, early_received: share }),
  requests: z.array(z.looseObject({ fault: z.string(), rate: share, path: z.string() })),
});
export type SandboxFaults = z.infer<typeof faultsSchema>;

type Place =
  | { readonly part: 'webhooks'; readonly field: keyof SandboxFaults['webhooks'] & string }
  | { readonly part: 'payments'; readonly field: keyof SandboxFaults['payments'] & string }
  | { readonly part: 'requests'; readonly field: string };

export type NamedFault = Place & {
  readonly title: string;
  /** What happens, and what the ledger does about it. */
  readonly effect: string;
  /** Settings that belong to it. */
  readonly extra?: Readonly<Record<string, number>>;
};

export const NAMED_FAULTS = {
  lost: {
    part: 'webhooks',
    field: 'drop',
    title: 'Webhooks are lost',
    effect: 'Never sent, never retried. Reconciliation finds the difference and repairs it.',
  },
  doubled: {
    part: 'webhooks',
    field: 'duplicate',
    title: 'Webhooks arrive twice',
    effect: 'The second delivery is acknowledged, and changes nothing.',
  },
  delayed: {
    part: 'webhooks',
    field: 'delay',
    extra: { delay_ms: 30_000 },
    title: 'Webhooks are late',
    effect: 'They arrive up to 30 seconds after the change.',
  },
  reordered: {
    part: 'webhooks',
    field: 'reorder',
    extra: { reorder_ms: 5_000 },
    title: 'Webhooks arrive out of order',
    effect: 'Held back for 5 seconds, so that newer ones overtake them. The newest version wins.',
  },
  unsigned: {
    part: 'webhooks',
    field: 'corrupt_signature',
    title: 'The first attempt has a wrong signature',
    effect: 'The receiver refuses it with 401. The service tries again a minute later.',
  },
  repeated_late: {
    part: 'webhooks',
    field: 'late_copy',
    extra: { late_copy_ms: 20_000 },
    title: 'Old webhooks come again',
    effect: 'Sent once more after 20 seconds. An old state does not replace a newer one.',
  },
  changed: {
    part: 'webhooks',
    field: 'changed_copy',
    title: 'One id, two bodies',
    effect:
      'A second body arrives under the id of the first. Both are kept, and a finding is opened.',
  },
  short: {
    part: 'webhooks',
    field: 'short_objects',
    title: 'Webhooks with five fields',
    effect: 'Too little to decide about money. The ledger retrieves the rest from the service.',
  },
  processing: {
    part: 'payments',
    field: 'processing_first',
    extra: { processing_ms: 20_000 },
    title: 'Payments are processing first',
    effect: 'The outcome follows after 20 seconds.',
  },
  surcharge: {
    part: 'payments',
    field: 'surcharge',
    title: 'Payments have a surcharge',
    effect: 'The customer pays 3 % more than the amount of the order.',
  },
  unavailable: {
    part: 'requests',
    field: 'server_error',
    title: 'The service responds 503',
    effect: 'Requests fail without an effect. Tallyhook retries those that are safe to repeat.',
  },
  limited: {
    part: 'requests',
    field: 'rate_limit',
    title: 'The rate limit is used up',
    effect: 'The service responds 429. Background requests wait and leave the rate to the shop.',
  },
  cut: {
    part: 'requests',
    field: 'cut_after',
    title: 'Responses are lost',
    effect: 'The change is made, but no response arrives. The client looks before it repeats.',
  },
} as const satisfies Readonly<Record<string, NamedFault>>;
export type FaultName = keyof typeof NAMED_FAULTS;
export const FAULT_NAMES = Object.keys(NAMED_FAULTS) as readonly FaultName[];

/** Shares of cases, from 0 to 1. */
export type FaultShares = Readonly<Record<FaultName, number>>;

/** The share at which each named fault is on. */
export function sharesOf(faults: SandboxFaults): FaultShares {
  const shares = FAULT_NAMES.map((name) => [name, shareAt(faults, NAMED_FAULTS[name])] as const);
  return Object.fromEntries(shares) as FaultShares;
}

function shareAt(faults: SandboxFaults, { part, field }: Place): number {
  if (part === 'requests') return faults.requests.find(isEverywhere(field))?.rate ?? 0;
  const share = part === 'webhooks' ? faults.webhooks[field] : faults.payments[field];
  return typeof share === 'number' ? share : 0;
}

/** A fault of requests that is not limited to a path, as the console sets it. */
function isEverywhere(field: string): (request: SandboxFaults['requests'][number]) => boolean {
  return ({ fault, path }) => fault === field && path === '/';
}

/** The faults with other shares; a name that is left out stays as it is. */
export function withShares(faults: SandboxFaults, shares: Partial<FaultShares>): SandboxFaults {
  return FAULT_NAMES.reduce((changed, name) => {
    const wanted = shares[name];
    const fault: NamedFault = NAMED_FAULTS[name];
    return wanted === undefined || wanted === shareAt(changed, fault)
      ? changed
      : withShare(changed, fault, wanted);
  }, faults);
}

function withShare(faults: SandboxFaults, fault: NamedFault, wanted: number): SandboxFaults {
  const { part, field, extra } = fault;
  if (part !== 'requests')
    return { ...faults, [part]: { ...faults[part], ...extra, [field]: wanted } };
  const others = faults.requests.filter((request) => !isEverywhere(field)(request));
  const own = wanted === 0 ? [] : [{ fault: field, rate: wanted, path: '/' }];
  return { ...faults, requests: [...others, ...own] };
}
