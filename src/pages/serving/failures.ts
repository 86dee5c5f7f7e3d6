/** Turns what went wrong into a page. */
import type { ErrorRequestHandler, Request } from 'express';
import { AttemptInterrupted } from '../../audit/recordAudit.ts';
import {
  isBusy,
  isContended,
  isDatabaseUnavailable,
  isTimeout,
} from '../../platform/db/failures.ts';
import { errorHandler } from '../../platform/errorHandler.ts';
import type { Log } from '../../platform/log.ts';
import type { At, PagesAppParts } from './context.ts';
import { type Failure, problemView, statusOf } from './problem.tsx';
import type { Renderer } from './render.tsx';
import { findSession } from './requestSession.ts';

export const UNAVAILABLE = {
  outcome: 'unavailable',
  message: 'The database is unavailable. `npx tallyhook doctor` shows why. Try again soon.',
  endsWithOutage: true,
} as const satisfies Failure;

const BUSY_NEXT =
  'If it lasts, `pg_stat_activity` has the sessions that wait and those that they wait for.';

const BUSY_PAGE = {
  outcome: 'busy',
  message:
    'The database is available, and busy: this page waited too long for it, such as for a lock of a migration. ' +
    `Open the page again in a moment. ${BUSY_NEXT}`,
} as const satisfies Failure;

const BUSY_ACTION = {
  outcome: 'busy',
  message:
    'The database is available, and busy: this action waited too long for it, such as for a lock of a migration, and ' +
    `was canceled. Check the page of its subject before you repeat it. ${BUSY_NEXT}`,
} as const satisfies Failure;

/** Of an action that had begun, and that does not record its own attempt. */
export const INTERRUPTED = {
  outcome: 'unknown',
  message:
    'The database did not confirm this action, which may have been done. When the database responds ' +
    'again, check the page of its subject, or the audit log, before you repeat it.',
} as const satisfies Failure;

export function noPageAt({ path }: Request): Failure {
  return { outcome: 'not_found', message: `There is no page at ${path}.` };
}

export function sendFailure(failure: Failure, { request, response, renderer }: At): void {
  const session = findSession(response);
  // Opening a sign-in once more would use its code twice.
  const opensItself =
    failure.endsWithOutage === true &&
    request.method === 'GET' &&
    !request.path.startsWith('/sign-in');
  const view = problemView(failure, { opensItself });
  const html = renderer.render(view, { request, response, session });
  response.status(statusOf(failure)).type('html').send(html);
}

export function createErrorHandler({
  log,
  probe,
  renderer,
}: Pick<PagesAppParts, 'log' | 'probe'> & { readonly renderer: Renderer }): ErrorRequestHandler {
  return errorHandler(async (error, request, response) => {
    const isWait = await isWaitFor(error, probe);
    const busy = request.method === 'GET' ? BUSY_PAGE : BUSY_ACTION;
    sendFailure(isWait ? busy : failureOf(error, log), { request, response, renderer });
  });
}

/** Whether the request waited for other sessions, and not for a database that is unavailable. */
async function isWaitFor(error: unknown, probe: PagesAppParts['probe']): Promise<boolean> {
  if (error instanceof AttemptInterrupted) return false;
  return isBusy(error) || (isTimeout(error) && (await responds(probe)));
}

/** Whether the database responds to another connection. */
function responds(probe: PagesAppParts['probe']): Promise<boolean> {
  return probe().then(
    () => true,
    () => false,
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
