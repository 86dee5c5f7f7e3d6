/**
 * An HTTP server of an Express app.
 *
 * Express replaces the prototypes of a request and its response when they arrive. V8 then gives each of
 * them a shape of its own, and every access to a property is looked up again: that took more than half of
 * the time of a route that verifies a webhook (docs/decisions/0172-express-prototypes.md). Here they are
 * made with the prototypes that Express wants, so it replaces them by themselves, which costs nothing.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './httpServer.ts';

export interface ExpressServerOptions extends Omit<HttpServerOptions, 'handler' | 'classes'> {
  /** Is served by one server only. */
  readonly app: Express;
}

/**
 * Starts listening.
 * @throws OperatorError when the port is in use or not permitted, or the host is not an address of this machine
 */
export function startExpressServer({ app, ...options }: ExpressServerOptions): Promise<HttpServer> {
  class AppRequest extends IncomingMessage {}
  class AppResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  const classes = { IncomingMessage: AppRequest, ServerResponse: AppResponse };
  return startHttpServer({ ...options, handler: app, classes });
}
