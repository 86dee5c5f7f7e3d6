import { describe, expect, test } from 'vitest';
import {
  addressGroup,
  clientAddress,
  NO_TRUSTED_PROXIES,
  parseTrustedProxies,
  type TrustedProxies,
} from '../../../src/platform/clientAddress.ts';

function trusting(text: string): TrustedProxies {
  const parsed = parseTrustedProxies(text);
  if (!parsed) throw new Error(`${text} is not a list of addresses`);
  return parsed;
}

const request = (remoteAddress: string | undefined, forwarded?: string) => ({
  socket: { remoteAddress },
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
});

const PROXIES = trusting('10.0.0.0/8, 192.0.2.7,2001:db8:1::/48, ::1');

describe('the address of a client', () => {
  test.each([
    ['the peer, without a proxy', '198.51.100.1', undefined, '198.51.100.1'],
    ['the peer, if it is not a trusted proxy', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['a trusted proxy that names nobody', '10.1.2.3', undefined, '10.1.2.3'],
    ['what a trusted proxy forwards', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    [
      'the right-most hop, not what the client claims',
      '10.1.2.3',
      '1.1.1.1, 203.0.113.9',
      '203.0.113.9',
    ],
    [
      'the first hop before a chain of proxies',
      '10.1.2.3',
      '1.1.1.1,203.0.113.9, 192.0.2.7, 10.9.9.9',
      '203.0.113.9',
    ],
    ['the left-most of a chain of proxies alone', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    [
      'the last known hop before one that is not an address',
      '10.1.2.3',
      '203.0.113.9, unknown, 10.0.0.2',
      '10.0.0.2',
    ],
    ['the proxy, if the header is empty', '10.1.2.3', '', '10.1.2.3'],
    ['IPv4 of a mapped peer', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['a hop behind a mapped proxy', '::ffff:10.1.2.3', '::ffff:203.0.113.9', '203.0.113.9'],
    ['a hop without its port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 hop without brackets and port', '::1', '[2001:DB8:2::9]:4711', '2001:db8:2::9'],
    ['an IPv6 hop before an IPv6 proxy', '::1', '2001:db8:2::9, 2001:db8:1:5::1', '2001:db8:2::9'],
    ['a link-local peer without its zone', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['unknown, once the connection has ended', undefined, '203.0.113.9', 'unknown'],
  ])('is %s', (_, peer, forwarded, expected) => {
    expect(clientAddress(request(peer, forwarded), PROXIES)).toBe(expected);
  });

  test('is the peer if no proxy is trusted', () => {
    expect(clientAddress(request('127.0.0.1', '203.0.113.9'), NO_TRUSTED_PROXIES)).toBe(
      '127.0.0.1',
    );
  });

  test('is read from a header of 16 KiB in one pass', () => {
    const chain = '10.0.0.1,'.repeat(1_800);
    expect(clientAddress(request('10.1.2.3', `203.0.113.9,${chain}10.0.0.2`), PROXIES)).toBe(
      '203.0.113.9',
    );
  });
});

describe('a list of trusted proxies', () => {
  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.1.1.1', true],
    ['::ffff:192.0.2.7', '192.0.2.7', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['192.0.2.7', 'unknown', false],
  ])('%s has %s: %s', (list, address, expected) => {
    expect(trusting(list).has(address)).toBe(expected);
  });

  test.each([
    '',
    'proxy.internal',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '10.0.0.1,,10.0.0.2',
    '10.0.0.0/-1',
    '10.0.0.0/1e1',
    'fe80::1%eth0',
  ])('is not "%s"', (text) => {
    expect(parseTrustedProxies(text)).toBeUndefined();
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
])('limits count %s as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});
