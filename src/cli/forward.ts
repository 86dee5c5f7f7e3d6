/**
 * Forwards one event to an address, as the service would deliver it.
 *
 * 1. The body is what was received, byte for byte, signed again with another secret.
 * 2. An attempt without a response may have arrived. It is repeated, and every further attempt is marked.
 */
import { SIGNATURE_HEADER } from '../contract/signature.ts';
import { monotonicMs } from '../platform/clock.ts';
import { toError } from '../platform/errors.ts';
import { sleep } from '../platform/sleep.ts';
import { signBody } from '../receiver/sign.ts';
import { nextDelayMs } from './following.ts';

/** The inbox number of a forwarded event. */
export const NUMBER_HEADER = 'X-Tallyhook-Event-Number';
/** `true` where the event may have been forwarded before. */
export const REPEAT_HEADER = 'X-Tallyhook-Repeat';

const TIMEOUT_MS = 30_000;
const LONGEST_DELAY_MS = 10_000;

export interface Target {
  readonly url: string;
  readonly secret: string;
  /** How long to repeat an event that gets no response. */
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
  /** Called after each attempt without a response. */
  readonly onUnreachable: (failure: Unreachable) => void;
}

export interface Unreachable {
  readonly number: number;
  readonly reason: string;
  readonly nextDelayMs: number;
  readonly attempts: number;
}

export interface Forwarded {
  readonly number: number;
  readonly body: Buffer;
  /** Whether an earlier run may have forwarded it. */
  readonly isRepeat: boolean;
}

export type ForwardResult =
  | {
      readonly outcome: 'responded';
      readonly status: number;
      readonly durationMs: number;
      /** Whether the attempt with the response was marked as a repeat. */
      readonly isRepeat: boolean;
    }
  | { readonly outcome: 'given_up'; readonly reason: string };

/** @throws the reason of `signal` once it is aborted */
export async function forwardEvent(target: Target, event: Forwarded): Promise<ForwardResult> {
  const { signal, giveUpAfterMs, onUnreachable } = target;
  const startMs = monotonicMs();
  let delayMs: number | undefined;
  for (let attempts = 1; ; attempts += 1) {
    const isRepeat = event.isRepeat || attempts > 1;
    const sentMs = monotonicMs();
    try {
      const status = await post(target, { ...event, isRepeat });
      return { outcome: 'responded', status, durationMs: monotonicMs() - sentMs, isRepeat };
    } catch (error) {
      signal.throwIfAborted();
      const reason = reasonOf(error);
      if (monotonicMs() - startMs > giveUpAfterMs) return { outcome: 'given_up', reason };
      delayMs = nextDelayMs(delayMs, LONGEST_DELAY_MS);
      onUnreachable({ number: event.number, reason, nextDelayMs: delayMs, attempts });
    }
    await sleep(delayMs, signal);
    signal.throwIfAborted();
  }
}

async function post(
  { url, secret, signal }: Target,
  { number, body, isRepeat }: Forwarded,
): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      [SIGNATURE_HEADER]: signBody(body, secret).toString('hex'),
      [NUMBER_HEADER]: String(number),
      ...(isRepeat ? { [REPEAT_HEADER]: 'true' } : {}),
    },
    body: new Uint8Array(body),
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  // The status is what counts: a server that breaks off its text has received the event.
  await response.body?.cancel();
  return response.status;
}

function reasonOf(error: unknown): string {
  const { message, cause } = toError(error);
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
