/**
 * A person and the policy act on one hold at the same time: one of them does, and the other learns why it does not.
 * The hold can be captured in several parts, so the service would carry out both.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { captureOrCancelAs, inspectHold } from '../../src/actions/captureOrCancel.ts';
import type { AuthorizationService } from '../../src/authorizations/authorizationService.ts';
import { createAuthorizationService } from '../../src/authorizations/createAuthorizationService.ts';
import { createClient } from '../../src/client/index.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/platform/time.ts';
import { notCapturedText } from '../../src/representation/notDone.ts';
import { type AuthorizationTestSetup, setUpAuthorizations } from '../support/authorizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recordingProxy.ts';
import { startTestSandbox, type TestSandbox } from '../support/sandbox.ts';

const WEEK_MS = 7 * 24 * HOUR_MS;
const ADA = { kind: 'cli', name: 'ada', role: 'admin', origin: 'ada@till' } as const;

let db: TestDatabase;
let sandbox: TestSandbox;
let proxy: RecordingProxy;
let watched: AuthorizationTestSetup;
/** Happens when the policy has claimed its attempt, before its request is sent. */
let beforePolicyActs: () => Promise<void>;
/** Happens when the policy has decided to act, before it claims its attempt. */
let beforePolicyClaims: () => Promise<void>;
let id: string;
beforeEach(async () => {
  [db, sandbox] = await Promise.all([createTestDatabase(), startTestSandbox()]);
  proxy = await startRecordingProxy(sandbox.baseUrl);
  beforePolicyActs = () => Promise.resolve();
  beforePolicyClaims = () => Promise.resolve();
  let isDecided = false;
  watched = await setUpAuthorizations({ ...sandbox, baseUrl: proxy.baseUrl }, db, {
    policy: { action: 'cancel', hours: 6 },
    // The check reads it before it retrieves a payment, and again before the policy acts on it.
    isPaused: async () => {
      if (isDecided) await beforePolicyClaims();
      return false;
    },
    around: (service) => ({
      refresh: async (...given) => {
        isDecided = true;
        return await service.refresh(...given);
      },
      act: async (request) => {
        await beforePolicyActs();
        return await service.act(request);
      },
    }),
  });
  id = await watched.authorize({ capture_method: 'manual_multiple' });
  await watched.advance(WEEK_MS - 6 * HOUR_MS + MINUTE_MS);
});
afterEach(async () => {
  await proxy.close();
  await sandbox.close();
  await db.drop();
});

/** What the person uses. @param around is between it and the service */
function personParts(around = (service: AuthorizationService) => service) {
  const { apiKey, merchantId } = sandbox;
  const client = createClient({ baseUrl: proxy.baseUrl, apiKey });
  const account = { merchantId, profileId: undefined };
  const { clock, check } = watched;
  const service = createAuthorizationService({ db, client, clock, account }, { lane: 'operator' });
  return { db, check, service: around(service) };
}

/** The person captures a part of the hold that they see now. */
async function capturePart(parts = personParts()) {
  const seen = await inspectHold(parts, id);
  if (seen.outcome !== 'held') throw new Error(`${id} holds nothing`);
  const input = { action: 'capture', paymentId: id, hold: seen.hold, amountMinor: 1000 } as const;
  const given = await captureOrCancelAs(parts, ADA, input);
  const text =
    given.outcome === 'done' ? 'done' : notCapturedText({ paymentId: id, ...seen.hold }, given);
  return { ...given, text };
}

const requests = () =>
  proxy.requests
    .filter(({ method, path }) => method === 'POST' && path.startsWith(`/payments/${id}/`))
    .map(({ path }) => path.split('/').at(-1));
const outcomes = async () =>
  (await watched.logOf(id)).filter(({ kind }) => kind === 'policy').map(({ outcome }) => outcome);

test('a person who captures while the policy cancels learns that, and sends nothing', async () => {
  const responses: object[] = [];
  beforePolicyActs = async () => {
    responses.push(await capturePart());
  };
  await watched.check.run();
  expect(requests()).toEqual(['cancel']);
  expect(responses).toEqual([
    expect.objectContaining({
      outcome: 'busy',
      text: expect.stringMatching(
        /^The policy of authorizations began to cancel pay_\S+ at \S+ \S+ UTC, and has no result yet\. Nothing was done\./,
      ),
    }),
  ]);
  expect(await outcomes()).toEqual(['done']);
});

test('the policy sends nothing while a person captures, and nothing about a hold that changed', async () => {
  const parts = personParts((service) => ({
    ...service,
    act: async (request) => {
      await watched.check.run();
      return await service.act(request);
    },
  }));
  expect(await capturePart(parts)).toMatchObject({ outcome: 'done' });
  expect(requests()).toEqual(['capture']);
  expect(await outcomes()).toEqual([]);
  // What is left is for the next run.
  await watched.advance(10 * MINUTE_MS);
  await watched.check.run();
  expect(requests()).toEqual(['capture', 'cancel']);
});

test('the policy claims no attempt on a hold of which a person has just captured a part', async () => {
  beforePolicyClaims = async () => {
    expect(await capturePart()).toMatchObject({ outcome: 'done' });
  };
  await watched.check.run();
  expect(requests()).toEqual(['capture']);
  expect(await outcomes()).toEqual([]);
});

test('an attempt of the policy without a result holds up a person for ten minutes', async () => {
  beforePolicyActs = () => Promise.reject(new Error('killed'));
  await watched.check.run();
  expect(await outcomes()).toEqual([null]);
  expect(await capturePart()).toMatchObject({ outcome: 'busy' });
  await watched.advance(10 * MINUTE_MS);
  expect(await capturePart()).toMatchObject({ outcome: 'done' });
});
