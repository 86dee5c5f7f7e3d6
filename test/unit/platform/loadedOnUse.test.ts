import express, { type RequestHandler } from 'express';
import request from 'supertest';
import { expect, test } from 'vitest';
import { loadedOnUse } from '../../../src/platform/loadedOnUse.ts';

const handler: RequestHandler = (_request, response) => {
  response.send('loaded');
};

test('it is loaded once, with the first requests', async () => {
  let loads = 0;
  const load = () => {
    loads += 1;
    return Promise.resolve(handler);
  };
  const app = express().use(loadedOnUse(load));
  expect(loads).toBe(0);
  const responses = await Promise.all([request(app).get('/'), request(app).get('/')]);
  expect(responses.map(({ text }) => text)).toEqual(['loaded', 'loaded']);
  expect(loads).toBe(1);
});

test('a request during which it cannot be loaded fails, and the next one loads it', async () => {
  let loads = 0;
  const load = () => {
    loads += 1;
    return loads === 1 ? Promise.reject(new Error('no memory')) : Promise.resolve(handler);
  };
  const app = express().set('env', 'test').use(loadedOnUse(load));
  expect((await request(app).get('/')).status).toBe(500);
  expect((await request(app).get('/')).text).toBe('loaded');
});

test('what it does not handle is passed on', async () => {
  const passOn: RequestHandler = (_request, _response, next) => next();
  const app = express()
    .use(loadedOnUse(() => Promise.resolve(passOn)))
    .use((_request, response) => {
      response.send('next');
    });
  expect((await request(app).get('/')).text).toBe('next');
});
