import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptFailure,
  backoffCeilingMs,
  decideRetry,
  outcomeOf,
  DEFAULT_RETRY_POLICY as POLICY,
  type RetrySituation,
  requiredMs,
} from '../../../src/client/domain/retry.ts';

const response = (httpStatus: number, code?: string, namedWaitMs?: number): AttemptFailure => ({
  kind: 'response',
  httpStatus,
  code,
  namedWaitMs,
});
const FIRST: Omit<RetrySituation, 'failure'> = {
  repeatable: true,
  mustExist: false,
  attempts: 1,
  elapsedMs: 0,
  requiredMs: 1,
  random: 0,
};
const isRetried = (failure: AttemptFailure, change: Partial<RetrySituation> = {}) =>
  decideRetry({ ...FIRST, ...change, failure }, POLICY).action === 'retry';

const anyFailure: fc.Arbitrary<AttemptFailure> = fc.oneof(
  fc.constantFrom<AttemptFailure>({ kind: 'notSent' }, { kind: 'lost' }),
  fc.record({
    kind: fc.constant('response' as const),
    httpStatus: fc.integer({ min: 100, max: 599 }),
    code: fc.constantFrom(undefined, 'HE_01', 'HE_00', 'RL_01', 'ZZ_99'),
    namedWaitMs: fc.option(fc.nat(200_000), { nil: undefined }),
  }),
);
const anySituation: fc.Arbitrary<RetrySituation> = fc.record({
  failure: anyFailure,
  repeatable: fc.boolean(),
  mustExist: fc.boolean(),
  attempts: fc.integer({ min: 1, max: 10 }),
  elapsedMs: fc.nat(200_000),
  requiredMs: fc.constantFrom(requiredMs(true, POLICY), requiredMs(false, POLICY)),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

describe('the outcome of a failure', () => {
  it.each([
    [response(400), 'refused'],
    [response(301), 'refused'],
    [response(422, 'HE_00'), 'refused'],
    [response(500, 'HE_01'), 'refused'],
    [response(429), 'notExecuted'],
    [{ kind: 'notSent' } as const, 'notExecuted'],
    [response(500), 'unknown'],
    [response(503, 'ZZ_99'), 'unknown'],
    [{ kind: 'lost' } as const, 'unknown'],
  ])('%j: %s', (failure, meaning) => {
    expect(outcomeOf(failure)).toBe(meaning);
  });
});

describe('a retry', () => {
  // Rule 1.
  it('never follows a 4xx other than 429, nor a redirect', () => {
    fc.assert(
      fc.property(anySituation, fc.integer({ min: 300, max: 499 }), (situation, httpStatus) => {
        fc.pre(httpStatus !== 429 && !situation.mustExist);
        expect(isRetried(response(httpStatus), situation)).toBe(false);
      }),
    );
  });

  // Rule 2.
  it.each([response(429), { kind: 'notSent' } as const])(
    'follows %j for any request',
    (failure) => {
      expect(isRetried(failure, { repeatable: false })).toBe(true);
    },
  );

  // Rule 3.
  it('never follows an unknown outcome unless the contract makes it safe', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        fc.pre(outcomeOf(situation.failure) === 'unknown');
        expect(isRetried(situation.failure, { ...situation, repeatable: false })).toBe(false);
      }),
    );
    expect(isRetried({ kind: 'lost' })).toBe(true);
    expect(isRetried(response(503))).toBe(true);
  });

  it('follows "not found" only if the resource is known to exist', () => {
    expect(isRetried(response(404))).toBe(false);
    expect(isRetried(response(404), { mustExist: true })).toBe(true);
    expect(isRetried(response(400), { mustExist: true })).toBe(false);
  });

  // Rules 5 to 7.
  it('waits at least as long as the response names, at most a growing ceiling longer, and never too long for an attempt', () => {
    fc.assert(
      fc.property(anySituation, (situation) => {
        const decision = decideRetry(situation, POLICY);
        if (decision.action === 'stop') return;
        const { failure, attempts, elapsedMs } = situation;
        const namedMs = failure.kind === 'response' ? (failure.namedWaitMs ?? 0) : 0;
        expect(decision.delayMs).toBeGreaterThanOrEqual(namedMs);
        expect(decision.delayMs).toBeLessThan(namedMs + backoffCeilingMs(attempts, POLICY) + 1);
        expect(elapsedMs + decision.delayMs + situation.requiredMs).toBeLessThanOrEqual(
          POLICY.totalTimeoutMs,
        );
        expect(attempts).toBeLessThan(POLICY.maxAttempts);
      }),
    );
  });

  // Rules 6 and 7.
  it('is sent if its time is just left, which for a change is half of the total at most', () => {
    const left = (ms: number) => ({ elapsedMs: POLICY.totalTimeoutMs - ms, requiredMs: 1_000 });
    expect(isRetried(response(503), left(1_000))).toBe(true);
    expect(isRetried(response(503), left(999))).toBe(false);
    expect(requiredMs(false, { ...POLICY, totalTimeoutMs: 20_000 })).toBe(10_000);
    expect(requiredMs(false, POLICY)).toBe(POLICY.attemptTimeoutMs);
  });

  it('uses the full range of the jitter, from zero to the ceiling', () => {
    const delayOf = (attempts: number, random: number) =>
      decideRetry({ ...FIRST, attempts, random, failure: response(503) }, POLICY);
    expect(delayOf(1, 0)).toEqual({ action: 'retry', delayMs: 0 });
    expect(delayOf(1, 0.999)).toEqual({ action: 'retry', delayMs: 249 });
    expect(delayOf(4, 0.5)).toEqual({ action: 'retry', delayMs: 1000 });
    expect(backoffCeilingMs(60, POLICY)).toBe(POLICY.maxDelayMs);
  });
});
