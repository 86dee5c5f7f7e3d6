/** Ports for servers of tests. */
import { expect, test } from 'vitest';
import { serverPort } from '../support/serverPort.ts';

test('calls at the same time get different ports, none of which the system gives to outgoing connections', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, serverPort));
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
