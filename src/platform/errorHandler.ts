import type { ErrorRequestHandler, Request, Response } from 'express';

/**
 * The last handler of an Express app.
 * @param reply sends the response to an error. Once a response has begun, Express ends its connection instead.
 */
export function errorHandler(
  reply: (error: unknown, request: Request, response: Response) => void | Promise<void>,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (!response.headersSent) return reply(error, request, response);
    next(error);
    return undefined;
  };
}
