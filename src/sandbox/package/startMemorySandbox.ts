/**
 * Starts a sandbox in this process, with its data in memory.
 *
 * 1. `reset` replaces everything but the server and its key: nothing of one test reaches the next.
 * 2. With a `clock`, time changes only when it is set or advanced. Two sandboxes share no clock.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { startHttpServer } from '../../platform/httpServer.ts';
import { SANDBOX_MERCHANT_ID, SANDBOX_PROFILE_ID } from '../account.ts';
import { type AssembledSandbox, assembleSandbox } from '../assemble.ts';
import { type FaultsInput, faultsSchema } from '../faults/settings.ts';
import type { SandboxLog } from '../log.ts';
import { createMemoryStore } from '../store/memory/store.ts';

/** What a reset can change. */
export interface ResetSettings {
  /**
   * The instant that the clock shows until it is set or advanced, for example
   * `2026-11-23T09:00:00Z`. Without it, the clock follows the machine's.
   */
  readonly clock?: string | Date | undefined;
  /** Where webhooks are sent; without it, none is. */
  readonly webhookUrl?: string | undefined;
  /** What goes wrong; nothing by default. */
  readonly faults?: FaultsInput | undefined;
}

export interface SandboxSettings extends ResetSettings {
  /** Signs webhooks, at least 32 characters; random by default. */
  readonly webhookSecret?: string | undefined;
  /** Requests of a key per minute; more have status 429. */
  readonly requestsPerMinute?: number | undefined;
  /** Receives what the sandbox logs; by default nothing is logged. */
  readonly log?: SandboxLog | undefined;
}

export type ControlMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface Sandbox {
  /** Without a trailing slash, on a free port of the loopback interface. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly profileId: string;
  readonly webhookSecret: string;
  /** The time of the sandbox's clock. */
  now(): Date;
  /**
   * Moves the clock to an instant. Forward, everything that falls due on the way happens, webhooks
   * included. Backward, resources keep their times, new ones are older, and what was due later waits.
   * @throws RangeError for what is no time
   */
  setClock(instant: string | Date): Promise<void>;
  /** Moves the clock forward. @param ms milliseconds */
  advance(ms: number): Promise<void>;
  /** Resolves when no webhook is due and none is in flight. */
  settle(): Promise<void>;
  /** Replaces all faults; `{}` ends them. @throws ZodError for a fault that does not exist */
  setFaults(faults: FaultsInput): void;
  /**
   * Calls a control route, which acts as the customer, the bank or the processor.
   * @param path below `/_sandbox`, for example `/payments/pay_1/action`
   * @throws Error when the status is not 200
   */
  control(method: ControlMethod, path: string, body?: object): Promise<unknown>;
  /**
   * Removes all data and ends webhooks in flight. The address and the keys stay. The clock, the webhook
   * URL and the faults are those of the start, where `settings` do not name others.
   */
  reset(settings?: ResetSettings): Promise<void>;
  /** Stops listening, and ends requests and webhooks in flight. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const SECRET_BYTES = 32;
/** High enough not to matter. */
const DEFAULT_PER_MINUTE = 1_000_000;
const SILENT: SandboxLog = { info: () => {}, warn: () => {}, error: () => {} };

/** @throws RangeError for a `clock` that is no time; ZodError for a fault that does not exist */
export async function startMemorySandbox(settings: SandboxSettings = {}): Promise<Sandbox> {
  const apiKey = `snd_${randomBytes(SECRET_BYTES).toString('hex')}`;
  const { webhookSecret = randomBytes(SECRET_BYTES).toString('hex') } = settings;
  let baseUrl = '';
  const assemble = (next: ResetSettings): Promise<AssembledSandbox> =>
    assembleSandbox(
      {
        apiKey,
        webhook: { url: next.webhookUrl, secret: webhookSecret },
        log: settings.log ?? SILENT,
        requestsPerMinute: settings.requestsPerMinute ?? DEFAULT_PER_MINUTE,
        faults: next.faults,
        clock: next.clock === undefined ? systemClock : fixedAt(next.clock),
      },
      { store: createMemoryStore(), baseUrl: () => baseUrl },
    );
  let current = await assemble(settings);
  const server = await startHttpServer({
    host: HOST,
    port: 0,
    handler: (request, response) => current.handler(request, response),
    portSetting: 'port',
  });
  baseUrl = `http://${HOST}:${server.port}`;
  const engine = () => current.services.engine;
  const now = () => new Date(current.services.clock.nowMs());
  return {
    baseUrl,
    apiKey,
    merchantId: SANDBOX_MERCHANT_ID,
    profileId: SANDBOX_PROFILE_ID,
    webhookSecret,
    now,
    setClock: (instant) => engine().setClock(instantMs(instant)),
    advance: (ms) => engine().advanceBy(ms),
    settle: () => engine().settle(),
    setFaults: (faults) => current.services.faults.set(faultsSchema.parse(faults)),
    control: (method, path, body) => callControl(`${baseUrl}/_sandbox${path}`, method, body),
    reset: async (changed) => {
      const next = await assemble({ ...settings, ...changed });
      const previous = current;
      current = next;
      await previous.services.engine.close();
    },
    stop: async () => {
      await engine().close();
      await server.close();
    },
  };
}

function fixedAt(instant: string | Date): Clock {
  const ms = instantMs(instant);
  return { nowMs: () => ms };
}

function instantMs(instant: string | Date): number {
  const ms = new Date(instant).getTime();
  if (Number.isNaN(ms)) {
    throw new RangeError(
      `clock: "${String(instant)}" is no time; use one like 2026-11-23T09:00:00Z`,
    );
  }
  return ms;
}

async function callControl(
  url: string,
  method: ControlMethod,
  body: object | undefined,
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}
