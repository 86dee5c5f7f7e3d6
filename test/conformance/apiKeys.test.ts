/** service-interface.md §2.8, §4.2 and §5. */
import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../src/platform/time.ts';
import type { Body, Reply } from '../support/serviceApi.ts';
import { expectError, expectResponse, freshId, isOurs, useTarget } from './target.ts';

const MERCHANT = 'merchant_local';

// A test suite must not have the administrative key of a real service.
describe.skipIf(!isOurs)('API keys', () => {
  const target = useTarget();
  let adminKey: string;
  beforeAll(async () => {
    adminKey = (await target.control('POST', '/api_keys', { kind: 'admin' })).api_key;
  });

  const send = (method: string, path = '', body?: object): Promise<Reply> =>
    target.call(method, `/api_keys/${MERCHANT}${path}`, body, { 'api-key': adminKey });
  const create = async (fields: object = {}): Promise<Body> =>
    expectResponse('createApiKey', await send('POST', '', { name: 'shop', ...fields }));
  const use = (apiKey: string) =>
    target.call('GET', '/payments/list', undefined, { 'api-key': apiKey });
  const now = async () => Date.parse((await target.control('GET', '/clock')).now);

  test('a key is created by an administrative key, works, and is shown once', async () => {
    const made = await create({ description: 'for the shop', expiration: 'never' });
    expect(made).toMatchObject({
      merchant_id: MERCHANT,
      name: 'shop',
      description: 'for the shop',
      api_key: expect.stringMatching(/^snd_/),
      created: expect.any(String),
      expiration: null,
    });
    expect((await use(made.api_key)).status).toBe(200);
    const { api_key: secret, ...shown } = made;
    const path = `/${made.key_id}`;
    const found = expectResponse('retrieveApiKey', await send('GET', path));
    const listed = expectResponse('listApiKeys', await send('GET', '/list?limit=1'));
    const updated = expectResponse('updateApiKey', await send('POST', path, {}));
    for (const view of [found, listed.data[0], updated]) {
      expect(view).toEqual(shown);
      expect(JSON.stringify(view)).not.toContain(secret);
    }
  });

  test('name, description and expiration can be changed', async () => {
    const { key_id: id } = await create();
    const expiration = new Date((await now()) + DAY_MS).toISOString();
    const change = { name: 'till', description: 'at the door', expiration };
    expect(expectResponse('updateApiKey', await send('POST', `/${id}`, change))).toMatchObject(
      change,
    );
    const back = expectResponse(
      'updateApiKey',
      await send('POST', `/${id}`, { expiration: 'never' }),
    );
    expect(back).toMatchObject({ name: 'till', expiration: null });
  });

  test('a revoked key is rejected with AU_02, and no longer exists', async () => {
    const { key_id: id, api_key: key } = await create();
    const revoked = expectResponse('revokeApiKey', await send('DELETE', `/${id}`));
    expect(revoked).toMatchObject({ merchant_id: MERCHANT, key_id: id, revoked: true });
    expectError(await use(key), 401, 'AU_02');
    expectError(await send('GET', `/${id}`), 404, 'IR_05');
    expectError(await send('POST', `/${id}`, { name: 'x' }), 404, 'IR_05');
    expectError(await send('DELETE', `/${id}`), 404, 'IR_05');
    const { data } = expectResponse('listApiKeys', await send('GET', '/list?limit=100'));
    expect(data.map(({ key_id }: Body) => key_id)).not.toContain(id);
  });

  test('a key works until it expires, and again after its expiration is moved', async () => {
    const endMs = (await now()) + DAY_MS;
    const { key_id: id, api_key: key } = await create({
      expiration: new Date(endMs).toISOString(),
    });
    await target.advance(DAY_MS - 60_000);
    expect((await use(key)).status).toBe(200);
    await target.advance(60_000);
    expectError(await use(key), 401, 'AU_01');
    await send('POST', `/${id}`, { expiration: 'never' });
    expect((await use(key)).status).toBe(200);
  });

  test('a date as expiration means the beginning of that day', async () => {
    const day = new Date((await now()) + 2 * DAY_MS).toISOString().slice(0, 10);
    expect(await create({ expiration: day })).toMatchObject({ expiration: `${day}T00:00:00.000Z` });
  });

  test.each([
    ['no name', { name: undefined }, 'IR_01'],
    ['a name of 65 characters', { name: 'n'.repeat(65) }, 'IR_04'],
    ['an expiration that is neither', { expiration: 'soon' }, 'IR_04'],
    ['an expiration that has passed', { expiration: '2001-01-01' }, 'IR_04'],
  ])('%s is refused', async (_what, fields, code) => {
    expectError(await send('POST', '', { name: 'shop', ...fields }), 400, code);
  });

  test('keys of another merchant and unknown keys are 404', async () => {
    const headers = { 'api-key': adminKey };
    const path = `/api_keys/${freshId('other')}`;
    expectError(await target.call('POST', path, { name: 'x' }, headers), 404, 'IR_05');
    expectError(await target.call('GET', `${path}/list`, undefined, headers), 404, 'IR_05');
    expectError(await send('GET', `/${freshId('nobody')}`), 404, 'IR_05');
  });

  test('the list is paged', async () => {
    await create();
    await create();
    const first = expectResponse('listApiKeys', await send('GET', '/list?limit=1'));
    const second = expectResponse('listApiKeys', await send('GET', '/list?limit=1&offset=1'));
    expect(first).toMatchObject({ has_more: true, total_count: second.total_count });
    expect(first.data[0].key_id).not.toBe(second.data[0].key_id);
  });
});
