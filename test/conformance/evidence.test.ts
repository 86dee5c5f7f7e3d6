/** service-interface.md §2.6, §4.6.1 and §4.6.2; docs/decisions/0015. */
import { expect } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import { cardPayment } from '../support/sandboxRequests.ts';
import type { Body, Reply } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, testOfOurs, useTarget } from './target.ts';

const target = useTarget();

/** The contract's fields, written a second time, by the groups in which they are returned. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, 'text' | 'file'>>>> = {
  customer_information: {
    customer_name: 'text',
    customer_email_address: 'text',
    customer_purchase_ip: 'text',
    customer_signature: 'file',
    customer_communication: 'file',
    billing_address: 'text',
    access_activity_log: 'text',
  },
  product_information: {
    product_description: 'text',
    service_date: 'text',
    service_documentation: 'file',
    receipt: 'file',
  },
  cancellation_information: {
    cancellation_policy: 'file',
    cancellation_policy_disclosure: 'text',
    cancellation_rebuttal: 'text',
  },
  refund_policy_information: {
    refund_policy: 'file',
    refund_policy_disclosure: 'text',
    refund_refusal_explanation: 'text',
  },
  shipping_information: {
    shipping_address: 'text',
    shipping_carrier: 'text',
    shipping_date: 'text',
    shipping_tracking_number: 'text',
    shipping_documentation: 'file',
  },
  recurring_information: {
    invoice_showing_distinct_transactions: 'file',
    recurring_transaction_agreement: 'file',
  },
  uncategorized: { uncategorized_file: 'file', uncategorized_text: 'text' },
};
const fields = Object.values(FIELDS).flatMap((group) => Object.entries(group));

async function open(fieldsOfDispute: object = {}): Promise<string> {
  const request = cardPayment({ profile_id: target.profileId });
  const { body } = await target.call('POST', '/payments', request);
  const opened = await target.control('POST', '/disputes', {
    payment_id: body.payment_id,
    ...fieldsOfDispute,
  });
  return opened.dispute_id;
}

async function upload(disputeId: string, parts: Record<string, string> = {}): Promise<Reply> {
  const form = new FormData();
  const all = { purpose: 'dispute_evidence', dispute_id: disputeId, ...parts };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  if (parts.file === undefined) form.append('file', new Blob(['signed']), 'receipt.txt');
  const response = await fetch(`${target.baseUrl}/files`, {
    method: 'POST',
    headers: { 'api-key': target.apiKey },
    body: form,
  });
  const { status, headers } = response;
  return { status, headers, body: await response.json() };
}

const fileFor = async (disputeId: string): Promise<string> =>
  expectResponse('uploadFile', await upload(disputeId)).file_id;
const submit = (disputeId: string, evidence: object): Promise<Reply> =>
  target.call('POST', '/disputes/evidence', { dispute_id: disputeId, ...evidence });
const submitted = async (disputeId: string, evidence: object): Promise<Body> =>
  expectResponse('submitEvidence', await submit(disputeId, evidence));
const read = async (disputeId: string): Promise<Body> =>
  expectResponse('retrieveEvidence', await target.call('GET', `/disputes/evidence/${disputeId}`));

const SPECIAL: Readonly<Record<string, string>> = {
  customer_email_address: 'ada@example.com',
  service_date: '2026-10-01',
};

testOfOurs('every field can be submitted, and is read back in its group', async () => {
  const id = await open();
  const sent: Record<string, string> = {};
  for (const [name, kind] of fields) {
    sent[name] = kind === 'file' ? await fileFor(id) : (SPECIAL[name] ?? `about ${name}`);
  }
  expect(fields).toHaveLength(26);
  const result = await submitted(id, sent);
  expect(result).toEqual({
    dispute_id: id,
    status: 'submitted',
    evidence_submitted_at: expect.any(String),
  });
  const groups = Object.entries(FIELDS).map(([group, names]) => [
    group,
    Object.fromEntries(Object.keys(names).map((name) => [name, sent[name]])),
  ]);
  expect(await read(id)).toEqual({
    dispute_id: id,
    evidence: Object.fromEntries(groups),
    evidence_submitted_at: result.evidence_submitted_at,
  });
});

testOfOurs(
  'calls add to the evidence, change the named fields and clear empty ones; empty groups are omitted',
  async () => {
    const id = await open();
    const first = await submitted(id, { customer_name: 'Ada', shipping_carrier: 'Post' });
    await target.advance(1000);
    const second = await submitted(id, { customer_name: 'Ada L.', receipt: await fileFor(id) });
    expect(Date.parse(second.evidence_submitted_at)).toBeGreaterThan(
      Date.parse(first.evidence_submitted_at),
    );
    expect((await read(id)).evidence).toEqual({
      customer_information: { customer_name: 'Ada L.' },
      product_information: { receipt: expect.any(String) },
      shipping_information: { shipping_carrier: 'Post' },
    });
    await submitted(id, { shipping_carrier: '', receipt: '', service_date: '' });
    const { evidence } = await read(id);
    expect(evidence).toEqual({ customer_information: { customer_name: 'Ada L.' } });
  },
);

testOfOurs(
  'evidence challenges the dispute, which the processor reports a minute later',
  async () => {
    const id = await open();
    expect((await read(id)).evidence).toEqual({});
    const { evidence_submitted_at: at } = await submitted(id, { uncategorized_text: 'no' });
    const { body } = await target.call('GET', `/disputes/${id}`);
    expect(body).toMatchObject({ dispute_status: 'dispute_challenged', evidence_submitted_at: at });
    const events = () => target.control('GET', `/webhooks?object_id=${id}`);
    const typesOf = ({ data }: Body) => data.map(({ event_type }: Body) => event_type);
    expect(typesOf(await events())).toEqual(['dispute_opened']);
    await target.advance(60_000);
    expect(typesOf(await events())).toEqual(['dispute_opened', 'dispute_challenged']);
    await target.control('POST', `/disputes/${id}/move`, { status: 'won' });
    expect(await read(id)).toMatchObject({
      evidence: { uncategorized: { uncategorized_text: 'no' } },
    });
  },
);

testOfOurs('a dispute to which nobody added evidence is not challenged, and expires', async () => {
  const [silent, empty, removed] = [await open(), await open(), await open()];
  await submitted(silent, {});
  await submitted(empty, { customer_name: '' });
  const remove = { dispute_id: removed, evidence_type: 'receipt' };
  expectResponse('deleteEvidence', await target.call('DELETE', '/disputes/evidence', remove));
  const statusOf = async (id: string) =>
    (await target.call('GET', `/disputes/${id}`)).body.dispute_status;
  for (const id of [silent, empty, removed]) expect(await statusOf(id)).toBe('dispute_opened');
  await target.advance(10 * DAY_MS + 1);
  for (const id of [silent, empty, removed]) expect(await statusOf(id)).toBe('dispute_expired');
});

testOfOurs('a file is taken out by DELETE', async () => {
  const id = await open();
  await submitted(id, { receipt: await fileFor(id), customer_name: 'Ada' });
  const remove = (body: object) => target.call('DELETE', '/disputes/evidence', body);
  const gone = await remove({ dispute_id: id, evidence_type: 'receipt' });
  expectResponse('deleteEvidence', gone);
  expect((await read(id)).evidence).toEqual({ customer_information: { customer_name: 'Ada' } });
  expectError(await remove({ dispute_id: id, evidence_type: 'customer_name' }), 400, 'IR_04');
  const nobody = { dispute_id: freshId('dp'), evidence_type: 'receipt' };
  expectError(await remove(nobody), 404, 'IR_05');
});

testOfOurs('a file that was not uploaded for this dispute is 400 and changes nothing', async () => {
  const [id, other] = [await open(), await open()];
  const foreign = await fileFor(other);
  for (const file of ['file_nobody', foreign]) {
    expectError(await submit(id, { receipt: file, customer_name: 'Ada' }), 400, 'IR_04');
  }
  expect(await read(id)).toMatchObject({ evidence: {} });
});

testOfOurs(
  'evidence after the deadline is 400, whether the dispute was contested or not',
  async () => {
    const [silent, contested] = [await open(), await open()];
    await submitted(contested, { uncategorized_text: 'no' });
    await target.advance(10 * DAY_MS + 1);
    for (const id of [silent, contested]) {
      expectError(await submit(id, { uncategorized_text: 'late' }), 400, 'HE_03');
      const remove = { dispute_id: id, evidence_type: 'receipt' };
      expectError(await target.call('DELETE', '/disputes/evidence', remove), 400, 'HE_03');
    }
  },
);

testOfOurs('a dispute that has ended takes no evidence', async () => {
  const id = await open();
  await target.control('POST', `/disputes/${id}/move`, { status: 'lost' });
  expectError(await submit(id, { customer_name: 'Ada' }), 400, 'HE_03');
});

testOfOurs('every evidence route returns 404 for an unknown dispute', async () => {
  const id = freshId('dp');
  expectError(await submit(id, { customer_name: 'Ada' }), 404, 'IR_05');
  expectError(await target.call('GET', `/disputes/evidence/${id}`), 404, 'IR_05');
  expectError(await upload(id), 404, 'IR_05');
});

testOfOurs.each([
  ['a number', { customer_name: 7 }, 'IR_04'],
  ['a near miss of a field', { customer_nme: 'Ada' }, 'IR_04'],
  ['an address that is none', { customer_email_address: 'ada' }, 'IR_04'],
  ['a date that is none', { service_date: 'yesterday' }, 'IR_04'],
  ['no dispute', { dispute_id: undefined }, 'IR_01'],
])('evidence with %s is refused', async (_what, evidence, code) => {
  expectError(await submit(freshId('dp'), evidence), 400, code);
});

testOfOurs('an upload requires a purpose, a dispute and a file that is not empty', async () => {
  const id = await open();
  expectError(await upload(id, { purpose: 'holiday' }), 400, 'IR_04');
  expectError(await upload(id, { file: 'text' }), 400, 'IR_04');
  expectError(await upload(id, { purpos: 'x' }), 400, 'IR_04');
  expectError(await target.call('POST', '/files', { dispute_id: id }), 400, 'IR_04');
  const headers = { 'api-key': target.apiKey, 'content-type': 'multipart/form-data; boundary=b' };
  expectError(await target.call('POST', '/files', 'no parts at all', headers), 400, 'IR_04');
});
