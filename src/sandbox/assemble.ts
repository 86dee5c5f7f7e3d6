/** Builds the object graph of a sandbox around its store. */
import type { Express } from 'express';
import { type Clock, systemClock } from '../platform/clock.ts';
import { SANDBOX_MERCHANT_ID, SANDBOX_PROFILE_ID } from './account.ts';
import { createSandboxClock } from './clock.ts';
import { createEngine, type Engine } from './engine.ts';
import { createActiveFaults } from './faults/activeFaults.ts';
import { type FaultsInput, mustReadFaults } from './faults/settings.ts';
import { createSandboxApp } from './http/app.ts';
import { hashKey } from './http/authenticate.ts';
import { createIgnoredFields } from './http/ignoredFields.ts';
import { createRateLimit } from './http/rateLimit.ts';
import type { SandboxLog } from './log.ts';
import { createResourceWriter } from './resourceWriter.ts';
import type { Services } from './services.ts';
import type { Store } from './store/store.ts';
import { createSender } from './webhooks/sender.ts';

export interface AssemblyOptions {
  /** The secret key, `snd_…`, that callers use. */
  readonly apiKey: string;
  readonly webhook: {
    /** Without a URL nothing is sent; PUT /_sandbox/webhook sets it later. */
    readonly url?: string | undefined;
    readonly secret: string;
  };
  readonly log: SandboxLog;
  readonly requestsPerMinute?: number | undefined;
  readonly faults?: FaultsInput | undefined;
  /** The clock that the sandbox's own clock is based on. */
  readonly clock?: Clock | undefined;
  /** How long a webhook's receiver may take to respond. */
  readonly webhookTimeoutMs?: number | undefined;
}

/** What the sandbox runs on. */
export interface Foundation {
  readonly store: Store;
  /** For example `http://127.0.0.1:8082`; available once the server listens. */
  readonly baseUrl: () => string;
}

export interface AssembledSandbox {
  readonly services: Services;
  readonly app: Express;
}

const WEBHOOK_TIMEOUT_MS = 30_000;

/** The sandbox runs from here on: it sends what is due. Its engine must be closed. */
export async function assembleSandbox(
  options: AssemblyOptions,
  foundation: Foundation,
): Promise<AssembledSandbox> {
  const { store } = foundation;
  await store.upsertKey({ sha256: hashKey(options.apiKey), kind: 'secret' });
  const services = await createServices(options, foundation);
  return { services, app: createSandboxApp(services, options.log) };
}

async function createServices(options: AssemblyOptions, foundation: Foundation): Promise<Services> {
  const { store } = foundation;
  const { log } = options;
  const clock = createSandboxClock({
    machine: options.clock ?? systemClock,
    advanceMs: await store.readAdvance(),
    store: (advanceMs) => store.storeAdvance(advanceMs),
  });
  const faults = createActiveFaults(mustReadFaults(options.faults ?? {}));
  let target = { url: options.webhook.url, secret: options.webhook.secret };
  const webhook: Services['webhook'] = {
    target: () => target,
    set: (next) => {
      target = { url: next.url, secret: next.secret };
    },
  };
  const account = { merchantId: SANDBOX_MERCHANT_ID, profileId: SANDBOX_PROFILE_ID };
  // The writer wakes the engine after a change, and the engine changes resources through the writer.
  let engine: Engine | undefined;
  const resources = createResourceWriter({
    store,
    clock,
    faults,
    merchantId: account.merchantId,
    target: webhook.target,
    onChange: () => engine?.wake(),
  });
  const sender = createSender({
    store,
    clock,
    target: webhook.target,
    responseTimeoutMs: options.webhookTimeoutMs ?? WEBHOOK_TIMEOUT_MS,
    onCapacity: () => engine?.wake(),
  });
  engine = createEngine({ store, clock, resources, sender, log });
  const shownClock = { nowMs: () => clock.nowMs() + faults.current().clock_offset_ms };
  const rateLimit = createRateLimit(shownClock, options.requestsPerMinute);
  const ignoredFields = createIgnoredFields(clock, log);
  return {
    ...foundation,
    resources,
    clock,
    shownClock,
    engine,
    faults,
    rateLimit,
    ignoredFields,
    account,
    webhook,
  };
}
