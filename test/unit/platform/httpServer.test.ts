import { describe, expect, test } from 'vitest';
import { OperatorError } from '../../../src/platform/errors.ts';
import { localUrl, startHttpServer } from '../../../src/platform/httpServer.ts';

test.each([
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['127.0.0.2', 'http://127.0.0.2:8080'],
  ['::1', 'http://[::1]:8080'],
  ['localhost', 'http://localhost:8080'],
  ['hooks.shop.example', 'http://hooks.shop.example:8080'],
])('what listens on %s is reached at %s', (host, url) => {
  expect(localUrl(host, 8080)).toBe(url);
  expect(new URL(url).href).toBe(`${url}/`);
});

describe('a server that cannot listen names the setting to change', () => {
  const options = { port: 0, handler: () => undefined, portSetting: 'PORT', hostSetting: 'HOST' };
  const listen = async (host: string, port = 0): Promise<unknown> => {
    const server = await startHttpServer({ ...options, host, port }).catch(
      (error: unknown) => error,
    );
    if (!(server instanceof Error)) throw new Error(`it listens on ${host}:${port}`);
    return server;
  };

  // An address reserved for documentation, one without its zone, and an invalid name.
  test.each(['192.0.2.1', 'fe80::1', 'nobody.invalid'])(
    '%s is not an address of this machine',
    async (host) => {
      const error = await listen(host);
      expect(error).toBeInstanceOf(OperatorError);
      expect(String(error)).toContain(`HOST is ${host}, which is not an address of this machine`);
    },
  );

  test('a port that is in use', async () => {
    const first = await startHttpServer({ ...options, host: '127.0.0.1' });
    expect(String(await listen('127.0.0.1', first.port))).toMatch(/is in use.*set PORT/);
    await first.close();
  });
});
