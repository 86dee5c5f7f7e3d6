/** Turns what went wrong into a page. */
import type { ErrorRequestHandler, Request } from 'express';
import { AttemptInterrupted } from '../../audit/recordAudit.ts';
import { isContended, isDatabaseUnavailable } from '../../platform/db/failures.ts';
import { errorHandler } from '../../platform/errorHandler.ts';
import type { Log } from '../../platform/log.ts';
import type { At } from './context.ts';
import { type Failure, problemView, statusOf } from './problem.tsx';
import type { Renderer } from './render.tsx';
import { findSession } from './requestSession.ts';

export const UNAVAILABLE = {
  outcome: 'unavailable',
  message: 'The database is unavailable. `npx tallyhook doctor` shows why. Try again soon.',
} as const satisfies Failure;

/** Of an action that had begun, and that does not record its own attempt. */
export const INTERRUPTED = {
  outcome: 'unknown',
  message:
    'The database became unavailable during this action, which may have been done. When the database is available ' +
    'again, check the page of its subject, or the audit log, before you repeat it.',
} as const satisfies Failure;

export function noPageAt({ path }: Request): Failure {
  return { outcome: 'not_found', message: `There is no page at ${path}.` };
}

export function sendFailure(failure: Failure, { request, response, renderer }: At): void {
  const session = findSession(response);
  const html = renderer.render(problemView(failure), { request, response, session });
  response.status(statusOf(failure)).type('html').send(html);
}

export function createErrorHandler(log: Log, renderer: Renderer): ErrorRequestHandler {
  return errorHandler((error, request, response) =>
    sendFailure(failureOf(error, log), { request, response, renderer }),
  );
}

/** @param error of the reader of the form, which states its limit */
function tooLarge(error: Error): string {
  const limit = 'limit' in error && typeof error.limit === 'number' ? error.limit : undefined;
  if (limit === undefined) return 'The form or its file is too large.';
  return `The form with its file is too large: it has more than ${Math.floor(limit / 1024)} KiB as it is sent, where a letter other than A to Z takes up to 9 bytes.`;
}

function failureOf(error: unknown, log: Log): Failure {
  if (error instanceof AttemptInterrupted) {
    log.error({ error }, 'console.page_failed');
    return { outcome: 'unknown', message: error.message };
  }
  if (error instanceof Error) {
    if (isDatabaseUnavailable(error) || isContended(error)) return UNAVAILABLE;
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
    if (status === 413) {
      return {
        outcome: 'invalid',
        message: `${tooLarge(error)} Nothing was done. Go back: what you typed is still there. Shorten it, or upload it as a file.`,
      };
    }
    if (status >= 400 && status < 500) {
      return { outcome: 'invalid', message: 'The request cannot be read. Go back and try again.' };
    }
  }
  log.error({ error }, 'console.page_failed');
  const message = 'The page failed unexpectedly. The log of the console has the cause. Try again.';
  return { outcome: 'unexpected', message };
}
