/**
 * The router of the console's pages: guards, assets, sign-in, pages and actions. Every response has the
 * headers of serving/guard.ts, and every problem is a page that states what to do next.
 */
import express, { type Express, type RequestHandler } from 'express';
import { createWriteCheck } from '../console/writeCheck.ts';
import { clientAddress } from '../platform/clientAddress.ts';
import { expressPath } from '../platform/expressPath.ts';
import { createFragments } from './live/fragments.ts';
import { LIVE_PATH, serveLive } from './live/liveRoute.ts';
import { ACTIONS, DOWNLOADS, PAGES, sectionsOf } from './pages.ts';
import { type Assets, readAssets } from './serving/assets.ts';
import type { Context, PagesAppParts } from './serving/context.ts';
import { createErrorHandler, noPageAt, sendFailure } from './serving/failures.ts';
import { FOREIGN_FORM, readForm, receiveForm } from './serving/forms.ts';
import { guard } from './serving/guard.ts';
import { sendKeptForm, sendUnsentForm } from './serving/keptForm.tsx';
import { createRenderer, type Renderer } from './serving/render.tsx';
import { requireSession, SIGN_OUT_PATH, sessionOf } from './serving/requestSession.ts';
import { serveAction } from './serving/serveAction.ts';
import { serveDownload } from './serving/serveDownload.ts';
import { requireRead, servePage } from './serving/servePage.ts';
import { setTheme, THEME_PATH } from './serving/theme.ts';
import { clearSessionCookie } from './session/cookie.ts';
import { ownPath } from './session/ownPath.ts';
import { addSignIn } from './session/signIn.ts';

export function createPagesApp(parts: PagesAppParts): Express {
  const { installation, log } = parts;
  const assets = readAssets();
  const renderer = createRenderer({
    installation: installation.name,
    assets,
    sections: sectionsOf(parts),
  });
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', false);
  app.use(guard(installation));
  addAssets(app, assets);
  const downloads = new Set<string>(DOWNLOADS.map(({ path }) => path));
  addSignIn(app, { ...parts, renderer, readForm: receiveForm, downloads });
  app.use(
    requireSession(parts, {
      whenEnded: keepForm(renderer, sendKeptForm),
      whenUnavailable: keepForm(renderer, sendUnsentForm),
    }),
  );
  const context: Context = {
    ...parts,
    renderer,
    fragments: createFragments(parts.watcher),
  };
  addSignOut(app, context);
  addTheme(app, context);
  app.get(LIVE_PATH, requireRead(context), serveLive(parts.watcher));
  for (const page of PAGES) app.get(expressPath(page.path), servePage(page, context));
  for (const download of DOWNLOADS) app.get(download.path, serveDownload(download, context));
  const refuseWrite = createWriteCheck(parts.db);
  for (const action of ACTIONS) {
    app.post(expressPath(action.path), ...serveAction(action, { ...context, refuseWrite }));
  }
  app.use((request, response) => {
    sendFailure(noPageAt(request), { request, response, renderer });
  });
  app.use(createErrorHandler({ log, probe: parts.probe, renderer }));
  return app;
}

function addAssets(app: Express, assets: Assets): void {
  for (const { path, type, content } of Object.values(assets)) {
    app.get(path, (_request, response) => {
      response.set('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(content);
    });
  }
}

/** Reads a form that cannot be carried out, and shows it. */
function keepForm(renderer: Renderer, send: typeof sendKeptForm): RequestHandler {
  return (request, response, next) => {
    receiveForm(request, response, (error?: unknown) => {
      if (error === undefined) send({ request, response, renderer });
      else next(error);
    });
  };
}

function addSignOut(app: Express, parts: Context): void {
  const { renderer, sessions, trustedProxies } = parts;
  app.post(SIGN_OUT_PATH, receiveForm, async (request, response) => {
    const session = sessionOf(response);
    if (!(await readForm(request, session))) {
      sendFailure(FOREIGN_FORM, { request, response, renderer });
      return;
    }
    await sessions.signOut(session, { address: clientAddress(request, trustedProxies) });
    clearSessionCookie(response, { request, trustedProxies });
    response.redirect(303, session.signIn === 'provider' ? '/sign-in?signed_out=1' : '/sign-in');
  });
}

function addTheme(app: Express, parts: Context): void {
  app.post(THEME_PATH, receiveForm, async (request, response) => {
    const form = await readForm(request, sessionOf(response));
    if (!form) return sendFailure(FOREIGN_FORM, { request, response, renderer: parts.renderer });
    setTheme(response, form.theme);
    response.redirect(303, ownPath(typeof form.next === 'string' ? form.next : '/'));
  });
}
