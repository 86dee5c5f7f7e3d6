/** Serves an action: the POST of a form. */
import type { RequestHandler } from 'express';
import type { Session } from '../../access/sessions.ts';
import type { Reply } from '../../console/reply.ts';
import type { WriteCheck } from '../../console/writeCheck.ts';
import { isDatabaseUnavailable } from '../../platform/db/failures.ts';
import type { PageAction } from '../page.ts';
import type { At, Context } from './context.ts';
import { INTERRUPTED, sendFailure, UNAVAILABLE } from './failures.ts';
import { FOREIGN_FORM, isTextForm, readForm, receiveFile, receiveForm } from './forms.ts';
import { sendKeptForm, sendUnsentForm } from './keptForm.tsx';
import { paramsOf } from './params.ts';
import { absenceOf, refusalOf } from './refusals.ts';
import { actorOf, sessionOf, viewerOf } from './requestSession.ts';

interface ActionContext extends Context {
  readonly refuseWrite: WriteCheck;
}

/** The handlers of an action: what reads its form, and what runs it. */
export function serveAction(action: PageAction, context: ActionContext): readonly RequestHandler[] {
  const readers = action.maxFileBytes === undefined ? [receiveForm] : fileReaders(action, context);
  return [...readers, runAction(action, context)];
}

function runAction(action: PageAction, context: ActionContext): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady, refuseWrite } = context;
    const session = sessionOf(response);
    const at = { request, response, renderer };
    const form = await readForm(request, session);
    if (!form) return refuseForeign(session, at);
    const denied = absenceOf(action, { subject: `POST ${action.path}`, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (session.isStale || !isReady()) return refuseUnavailable(session, at);
    const refused = await refuseWrite().catch(unavailability);
    if (refused) return sendRefusal(refused, session, at);
    const acted = await action
      .act(context, {
        params: paramsOf(request),
        form,
        actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
        sessionId: session.id,
      })
      .catch(interruptionOf)
      .finally(context.reads.wrote);
    if (acted.outcome === 'shown') {
      const viewer = viewerOf(session, { request, nowMs: context.clock.nowMs() });
      const html = renderer.render(acted.view(viewer), { request, response, session });
      response.type('html').send(html);
      return;
    }
    if (acted.outcome !== 'done') return sendFailure(acted, at);
    const notice = `${session.sign(acted.notice)}.${acted.notice}`;
    const separator = acted.to.includes('?') ? '&' : '?';
    response.redirect(303, `${acted.to}${separator}${new URLSearchParams({ notice })}`);
  };
}

/** A form of another session, or of no page: a person may send it again. */
function refuseForeign(session: Session, at: At): void {
  if (isTextForm(at.request)) sendKeptForm({ ...at, session });
  else sendFailure(FOREIGN_FORM, at);
}

/** Nothing has begun: a person may send it again. */
function refuseUnavailable(session: Session, at: At): void {
  if (isTextForm(at.request)) sendUnsentForm({ ...at, session });
  else sendFailure(UNAVAILABLE, at);
}

function sendRefusal(refused: Reply | typeof UNAVAILABLE, session: Session, at: At): void {
  if ('outcome' in refused) refuseUnavailable(session, at);
  else sendFailure({ outcome: 'unexpected', message: messageOf(refused.body) }, at);
}

/** @throws every other error */
function unavailability(error: unknown): typeof UNAVAILABLE {
  if (isDatabaseUnavailable(error)) return UNAVAILABLE;
  throw error;
}

/** The outcome of an action that the database did not confirm. @throws every other error */
function interruptionOf(error: unknown): typeof INTERRUPTED {
  if (isDatabaseUnavailable(error)) return INTERRUPTED;
  throw error;
}

function messageOf(body: unknown): string {
  const { error } = body as { readonly error: { readonly message: string } };
  return error.message;
}

/** A form with a file is read only for those who may send it. */
function fileReaders(action: PageAction, context: Context): readonly RequestHandler[] {
  const { maxFileBytes = 0, permission, path } = action;
  const refuse: RequestHandler = (request, response, next) => {
    const at = { request, response, renderer: context.renderer };
    const denied = refusalOf(permission, { subject: `POST ${path}`, context, ...at });
    if (denied) sendFailure(denied, at);
    else next();
  };
  return [refuse, receiveFile(maxFileBytes)];
}
