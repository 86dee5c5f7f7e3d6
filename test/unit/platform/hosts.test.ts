/** Addresses that name several servers of one database. */
import { expect, test } from 'vitest';
import { addressesOf, hostOf, problemOfAddress } from '../../../src/platform/db/hosts.ts';

test.each([
  ['postgres://db/shop', ['postgres://db/shop']],
  ['postgres:///shop?host=/run/postgresql', ['postgres:///shop?host=/run/postgresql']],
  [
    'postgres://u:p,a@a:5432,b:5433/shop?sslmode=require',
    [
      'postgres://u:p,a@a:5432/shop?sslmode=require',
      'postgres://u:p,a@b:5433/shop?sslmode=require',
    ],
  ],
  ['postgresql://[::1]:1,[::2]', ['postgresql://[::1]:1', 'postgresql://[::2]']],
  [
    'postgres://a,b?application_name=x@y,z',
    ['postgres://a?application_name=x@y,z', 'postgres://b?application_name=x@y,z'],
  ],
])('%s has an address for each server', (url, addresses) => {
  expect(addressesOf(url)).toEqual(addresses);
});

test('the name of a server contains nothing secret', () => {
  expect(addressesOf('postgres://u:hunter2@a:1,b/shop?password=x').map(hostOf)).toEqual([
    'a:1',
    'b',
  ]);
});

test.each([
  ['mysql://db/shop', 'must begin with postgres://'],
  ['postgres://a,,b/shop', 'has an empty name between its commas'],
  [
    'postgres://a,b/shop?target_session_attrs=prefer-standby',
    'has target_session_attrs=prefer-standby',
  ],
  ['postgres://db/shop', undefined],
  ['postgres://a,b/shop?target_session_attrs=read-write', undefined],
  ['postgres://a,b/shop?target_session_attrs=primary', undefined],
])('an address is refused with its problem: %s', (url, problem) => {
  const found = problemOfAddress(url);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});
