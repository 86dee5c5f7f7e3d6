import express, { type Express } from 'express';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startExpressServer } from '../../../src/platform/expressServer.ts';
import type { HttpServer } from '../../../src/platform/httpServer.ts';

let app: Express;
let server: HttpServer;

beforeEach(async () => {
  app = express();
  server = await startExpressServer({ app, host: '127.0.0.1', port: 0, portSetting: 'PORT' });
});

afterEach(() => server.close());

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);

test('what arrives at an app has its prototypes already, so that Express changes no shape', async () => {
  const handle = Reflect.get(app, 'handle') as (...parts: object[]) => void;
  const arrived: boolean[] = [];
  Reflect.set(app, 'handle', (request: object, response: object, next: object) => {
    arrived.push(
      Object.getPrototypeOf(request) === app.request &&
        Object.getPrototypeOf(response) === app.response,
    );
    handle.call(app, request, response, next);
  });
  app.get('/', (_request, response) => response.end());
  expect((await get('/')).status).toBe(200);
  expect(arrived).toEqual([true]);
});

test('requests and responses have what Express gives them, in an app and in one that it mounts', async () => {
  const mounted = express();
  app.use('/mounted', mounted);
  for (const each of [app, mounted]) {
    each.get('/', (request, response) => {
      expect(request.app).toBe(each);
      response.status(201).json({ path: request.path, query: request.query });
    });
  }
  for (const path of ['/?a=1', '/mounted/?a=1']) {
    const response = await get(path);
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ path: '/', query: { a: '1' } });
  }
});
