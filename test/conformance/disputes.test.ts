/** service-interface.md §3.5; stages, statuses and moves: docs/decisions/0009. */
import { expect } from 'vitest';
import { DISPUTE_STAGES, DISPUTE_STATUSES } from '../../src/contract/index.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';
import { checkDispute } from './transitions/index.ts';

const target = useTarget();

async function pay(): Promise<string> {
  const request = cardPayment({ profile_id: target.profileId });
  return expectResponse('createPayment', await target.call('POST', '/payments', request))
    .payment_id;
}

async function dispute(fields: object = {}): Promise<Body> {
  const opened = { payment_id: await pay(), ...fields };
  return await target.control('POST', '/disputes', opened);
}

async function retrieve(id: string): Promise<Body> {
  return expectResponse('retrieveDispute', await target.call('GET', `/disputes/${id}`));
}

const move = (id: string, to: object) => target.control('POST', `/disputes/${id}/move`, to);

testOfOurs('a dispute is opened about a payment, with its amount and a deadline', async () => {
  const { dispute_id: id, payment_id: paymentId } = await dispute({
    amount: 1000,
    reason: 'fraud',
  });
  expect(await retrieve(id)).toMatchObject({
    payment_id: paymentId,
    amount: 1000,
    currency: 'USD',
    dispute_stage: 'dispute',
    dispute_status: 'dispute_opened',
    connector_reason: 'fraud',
    challenge_required_by: expect.any(String),
    is_already_refunded: false,
  });
});

testOfOurs(
  'a dispute moves through its stages, and can be open again after it was lost',
  async () => {
    const { dispute_id: id } = await dispute({ stage: 'pre_dispute' });
    await move(id, { stage: 'dispute' });
    await move(id, { status: 'challenged' });
    await move(id, { status: 'lost' });
    expect(await retrieve(id)).toMatchObject({ dispute_status: 'dispute_lost' });
    await move(id, { stage: 'pre_arbitration', status: 'opened' });
    await move(id, { status: 'won' });
    expect(await retrieve(id)).toMatchObject({
      dispute_stage: 'pre_arbitration',
      dispute_status: 'dispute_won',
    });
  },
);

testOfOurs('a stage never moves backwards, and an end is an end within its stage', async () => {
  const { dispute_id: id } = await dispute({ stage: 'arbitration' });
  await expect(move(id, { stage: 'dispute' })).rejects.toThrow('409');
  await move(id, { status: 'won' });
  await expect(move(id, { status: 'lost' })).rejects.toThrow('409');
});

testOfOurs('accepting gives the amount up', async () => {
  const { dispute_id: id } = await dispute();
  const reply = await target.call('POST', `/disputes/accept/${id}`);
  expect(expectResponse('acceptDispute', reply)).toMatchObject({
    dispute_id: id,
    dispute_status: 'dispute_accepted',
  });
});

const states = DISPUTE_STAGES.flatMap((stage) =>
  DISPUTE_STATUSES.map((status) => [stage, status] as const),
);

testOfOurs.each(states)('accepting a dispute that is %s/%s', async (stage, status) => {
  const { dispute_id: id } = await dispute({ stage });
  if (status !== 'opened') await move(id, { status });
  const before = await retrieve(id);
  const reply = await target.call('POST', `/disputes/accept/${id}`);
  const check = checkDispute('acceptDispute', status, stage);
  if (check.allowed) {
    expect(reply).toMatchObject({ status: 200 });
  } else {
    expectError(reply, check.refusal.httpStatus, check.refusal.code);
    expect(await retrieve(id)).toEqual(before);
  }
});

testOfOurs.each([
  ['GET', ''],
  ['POST', 'accept/'],
])('%s /disputes/%s:dispute_id of nobody is 404', async (method, path) => {
  expectError(await target.call(method, `/disputes/${path}${freshId('nobody')}`), 404, 'IR_05');
});
