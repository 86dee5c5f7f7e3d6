/**
 * Keeps browsers out. The sandbox listens on loopback only and its control routes ask for no token,
 * so the one stranger who can reach it is a page in a browser of this machine: by a name that resolves
 * to loopback, or by a request across origins. Both show in headers that a page cannot forge.
 */
import type { RequestHandler } from 'express';
import { errorEnvelope } from '../../contract/index.ts';

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(:\d{1,5})?$/i;

/** Answers 403 to requests for a host that is not loopback, or from a page of another origin. */
export const rejectBrowsers: RequestHandler = (request, response, next) => {
  const host = request.headers.host ?? '';
  const { origin } = request.headers;
  const isOwn = origin === undefined || origin === `http://${host}`;
  if (LOOPBACK.test(host) && isOwn) {
    next();
    return;
  }
  const message = 'The sandbox answers programs on its own machine, not pages of other origins.';
  response.status(403).json(errorEnvelope('authentication_error', 'IR_22', message));
};
