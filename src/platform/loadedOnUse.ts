import type { RequestHandler } from 'express';

/**
 * A handler that is loaded with the first request for it, so that a process which gets none keeps neither its
 * code nor what that makes in memory. If it cannot be loaded, the request fails, and the next one tries again.
 */
export function loadedOnUse(load: () => Promise<RequestHandler>): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    const handler = await loading;
    await handler(request, response, next);
  };
}
