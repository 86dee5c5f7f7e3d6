/**
 * Rejects requests from browser pages of other origins. The sandbox listens on loopback only and its
 * control routes need no token, so a page in a local browser is the one way to attack it: through a
 * host name that resolves to loopback, or a cross-origin request. A page can forge neither header.
 */
import type { RequestHandler } from 'express';
import { errorEnvelope } from '../../contract/index.ts';

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|localhost|\[::1\])(:\d{1,5})?$/i;

/** Responds 403 to requests for a host that is not loopback, or from a page of another origin. */
export const rejectBrowsers: RequestHandler = (request, response, next) => {
  const host = request.headers.host ?? '';
  const { origin } = request.headers;
  const isOwn = origin === undefined || origin === `http://${host}`;
  if (LOOPBACK.test(host) && isOwn) {
    next();
    return;
  }
  const message = 'The sandbox accepts requests of local programs, not of pages of other origins.';
  response.status(403).json(errorEnvelope('authentication_error', 'IR_22', message));
};
