/**
 * Starts a sandbox in this process, with its data in memory.
 *
 * 1. `reset` replaces everything but the server and its key: nothing of one test reaches the next.
 * 2. With a `clock`, time changes only when it is set or advanced. Two sandboxes share no clock.
 * 3. After `stop`, nothing of it keeps the process alive, regardless of what was called before and after.
 */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { startHttpServer } from '../../platform/httpServer.ts';
import { DAY_MS } from '../../platform/time.ts';
import { SANDBOX_MERCHANT_ID, SANDBOX_PROFILE_ID } from '../account.ts';
import { type AssembledSandbox, assembleSandbox } from '../assemble.ts';
import { type FaultsInput, mustReadFaults } from '../faults/settings.ts';
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
   * @throws RangeError for what is no time, or beyond the year 9999
   */
  setClock(instant: string | Date): Promise<void>;
  /**
   * Moves the clock forward.
   * @param ms whole milliseconds, at most ten years
   * @throws RangeError for anything else; the clock stays where it is
   */
  advance(ms: number): Promise<void>;
  /** Resolves when no webhook is due and none is in flight. */
  settle(): Promise<void>;
  /**
   * Replaces all faults; `{}` ends them.
   * @throws RangeError that names what is wrong and what is allowed; the faults stay as they are
   */
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
   * @throws Error after `stop`
   */
  reset(settings?: ResetSettings): Promise<void>;
  /** Stops listening, and ends requests and webhooks in flight. A second call has no effect. */
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const SECRET_BYTES = 32;
/** High enough not to matter. */
const DEFAULT_PER_MINUTE = 1_000_000;
const SILENT: SandboxLog = { info: () => {}, warn: () => {}, error: () => {} };

/** @throws RangeError for a setting that cannot be right */
export async function startMemorySandbox(settings: SandboxSettings = {}): Promise<Sandbox> {
  checkSettings(settings);
  const apiKey = `snd_${randomBytes(SECRET_BYTES).toString('hex')}`;
  const { webhookSecret = randomBytes(SECRET_BYTES).toString('hex') } = settings;
  let baseUrl = '';
  const assemble = (next: ResetSettings): Promise<AssembledSandbox> =>
    assembleSandbox(
      {
        apiKey,
        webhook: { url: checkedUrl(next.webhookUrl), secret: webhookSecret },
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
    handler: (request, response) => current.app(request, response),
    portSetting: 'port',
  });
  baseUrl = `http://${HOST}:${server.port}`;
  const engine = () => current.services.engine;
  const now = () => new Date(current.services.clock.nowMs());
  const replace = async (changed: ResetSettings): Promise<void> => {
    const next = await assemble({ ...settings, ...changed });
    const previous = current;
    current = next;
    await previous.services.engine.close();
  };
  /** The last reset: the next one and a stop wait for it, because it starts an engine. */
  let lastReset: Promise<void> = Promise.resolve();
  const end = async (): Promise<void> => {
    await lastReset.catch(() => undefined);
    await engine().close();
    await server.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    baseUrl,
    apiKey,
    merchantId: SANDBOX_MERCHANT_ID,
    profileId: SANDBOX_PROFILE_ID,
    webhookSecret,
    now,
    setClock: async (instant) => engine().setClock(instantMs(instant)),
    advance: async (ms) => engine().advanceBy(checkedDuration(ms, now())),
    settle: () => engine().settle(),
    setFaults: (faults) => current.services.faults.set(mustReadFaults(faults)),
    control: (method, path, body) => callControl(`${baseUrl}/_sandbox${path}`, method, body),
    reset: async (changed = {}) => {
      checkNames(changed);
      if (stopped !== undefined) {
        throw new Error('The sandbox was stopped before this reset; start another one');
      }
      lastReset = lastReset.catch(() => undefined).then(() => replace(changed));
      await lastReset;
    },
    stop: () => {
      stopped ??= end();
      return stopped;
    },
  };
}

function fixedAt(instant: string | Date): Clock {
  const ms = instantMs(instant);
  return { nowMs: () => ms };
}

/** Times are written with four digits of the year. */
const LAST_INSTANT_MS = Date.parse('9999-12-31T23:59:59.999Z');
const FIRST_INSTANT_MS = Date.parse('0000-01-01T00:00:00Z');

/** Without this, a duration in a string would pass as a year. */
const ISO_DATE = /^\d{4}-\d\d-\d\d/;

function instantMs(instant: string | Date): number {
  const isTime = typeof instant === 'string' ? ISO_DATE.test(instant) : instant instanceof Date;
  const ms = isTime ? new Date(instant).getTime() : Number.NaN;
  if (ms >= FIRST_INSTANT_MS && ms <= LAST_INSTANT_MS) return ms;
  throw new RangeError(`clock: ${shown(instant)} is no time; use one like 2026-11-23T09:00:00Z`);
}

/** As the control route: longer than any deadline. */
const MAX_ADVANCE_MS = 10 * 365 * DAY_MS;

/** Due work up to what is no time would be run without end. */
function checkedDuration(ms: number, now: Date): number {
  const isDuration = Number.isInteger(ms) && ms >= 0 && ms <= MAX_ADVANCE_MS;
  if (isDuration && now.getTime() + ms <= LAST_INSTANT_MS) return ms;
  throw new RangeError(
    `advance: ${shown(ms)} is no duration; use whole milliseconds from 0 to ${MAX_ADVANCE_MS}, ` +
      'at most to the end of the year 9999. setClock moves the clock backward',
  );
}

const MIN_SECRET_LENGTH = 32;

const SETTING_NAMES: readonly string[] = [
  'clock',
  'webhookUrl',
  'faults',
  'webhookSecret',
  'requestsPerMinute',
  'log',
] satisfies (keyof SandboxSettings)[];

/** A test in plain JavaScript with `webhookURL` would wait for webhooks that nobody sends. */
function checkNames(settings: object): void {
  const unknown = Object.keys(settings).find((name) => !SETTING_NAMES.includes(name));
  if (unknown === undefined) return;
  throw new RangeError(`${unknown} is no setting; the settings are ${SETTING_NAMES.join(', ')}`);
}

function checkSettings(settings: SandboxSettings): void {
  checkNames(settings);
  const { webhookSecret, requestsPerMinute } = settings;
  if (
    webhookSecret !== undefined &&
    !(typeof webhookSecret === 'string' && webhookSecret.length >= MIN_SECRET_LENGTH)
  ) {
    throw new RangeError(`webhookSecret: use at least ${MIN_SECRET_LENGTH} characters`);
  }
  if (
    requestsPerMinute !== undefined &&
    !(Number.isInteger(requestsPerMinute) && requestsPerMinute >= 1)
  ) {
    throw new RangeError(
      `requestsPerMinute: ${shown(requestsPerMinute)} is no limit; use a whole number from 1`,
    );
  }
}

/** @returns a URL that webhooks can be sent to; undefined for none */
function checkedUrl(url: string | undefined): string | undefined {
  if (url === undefined || (URL.canParse(url) && /^https?:/i.test(url))) return url;
  throw new RangeError(
    `webhookUrl: ${shown(url)} is no URL; use one like http://127.0.0.1:3000/webhooks`,
  );
}

/** Any value, as an error shows it. */
function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
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
