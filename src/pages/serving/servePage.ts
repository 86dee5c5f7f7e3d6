/** Serves a page: whole, or only its live part to a page that is open. */
import type { RequestHandler } from 'express';
import { queryOf } from '../../platform/query.ts';
import type { Fragment } from '../live/fragments.ts';
import { LIVE_HEADER, LIVE_PATH } from '../live/liveRoute.ts';
import type { Elsewhere, Opened, Page, Problem } from '../page.ts';
import type { At, Context } from './context.ts';
import { sendFailure, UNAVAILABLE } from './failures.ts';
import { readFields } from './forms.ts';
import { paramsOf } from './params.ts';
import { absenceOf, refusalOf } from './refusals.ts';
import { actorOf, sessionOf, viewerOf } from './requestSession.ts';

export function servePage(page: Page, context: Context): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady } = context;
    const session = sessionOf(response);
    const at = { request, response, renderer };
    const denied = absenceOf(page, { subject: `GET ${page.path}`, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (session.isStale || !isReady()) return sendFailure(UNAVAILABLE, at);
    const { notice: _notice, ...query } = readFields(queryOf(request.originalUrl));
    const isLive = request.header(LIVE_HEADER) !== undefined;
    const { db, ageMs } = context.reads.source();
    const open = () =>
      page.open(
        { ...context, db },
        {
          params: paramsOf(request),
          query,
          actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
          role: session.holder.role,
          sessionId: session.id,
          isLive,
        },
      );
    if (isLive) return await sendFragment(open, at, context);
    const place = context.watcher.place();
    const opened = await open();
    if (opened.outcome === 'elsewhere') return response.redirect(303, opened.to);
    if (opened.outcome !== 'ok') return sendFailure(opened, at);
    const { topics } = opened;
    const viewer = viewerOf(session, { request, nowMs: context.clock.nowMs() });
    const live = topics.length === 0 ? undefined : { topics, place };
    const html = renderer.render(opened.view(viewer), { request, response, session, live, ageMs });
    response.type('html').send(html);
  };
}

/** Sends the live part of a page, which viewers of a role share. */
async function sendFragment(
  open: () => Promise<Opened | Elsewhere | Problem>,
  at: At,
  { clock, fragments }: Context,
): Promise<void> {
  const { request, response, renderer } = at;
  const session = sessionOf(response);
  const make = async (place: string): Promise<Fragment | Elsewhere | Problem> => {
    const opened = await open();
    if (opened.outcome !== 'ok') return opened;
    const { topics } = opened;
    const anyone = { ...session, formToken: fragments.formToken };
    const view = opened.view(viewerOf(anyone, { request, nowMs: clock.nowMs() }));
    return { html: renderer.renderLive(view, { topics, place }), topics, place };
  };
  const made = await fragments.get(`${session.holder.role} ${request.originalUrl}`, make);
  if ('html' in made) response.type('html').send(fragments.fill(made, session));
  else if (made.outcome === 'elsewhere') response.redirect(303, made.to);
  else sendFailure(made, at);
}

/** Passes on who may read pages. */
export function requireRead(context: Context): RequestHandler {
  return (request, response, next) => {
    const at = { request, response, renderer: context.renderer };
    const denied = refusalOf('read', { subject: `GET ${LIVE_PATH}`, context, ...at });
    if (denied) sendFailure(denied, at);
    else if (sessionOf(response).isStale || !context.isReady()) sendFailure(UNAVAILABLE, at);
    else next();
  };
}
