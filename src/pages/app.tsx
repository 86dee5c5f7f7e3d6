/**
 * The router of the console's pages: guards, assets, sign-in, pages and actions. Every response has the
 * headers of guard.ts, and every problem is a page that states what to do next.
 */
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { type Permission, permits, rolesWith } from '../access/domain/roles.ts';
import { actorOf as actorOfSession, type Session, type Sessions } from '../access/sessions.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { createDenialRecorder } from '../console/denials.ts';
import { createWriteCheck } from '../console/writeCheck.ts';
import { clientAddress, type TrustedProxies } from '../platform/clientAddress.ts';
import { isContended, isDatabaseUnavailable } from '../platform/db/failures.ts';
import type { Log } from '../platform/log.ts';
import { readAssets } from './assets.ts';
import type { Download } from './download.ts';
import { isKnownHost, isSameOrigin, PAGE_HEADERS } from './guard.ts';
import { createFragments, type Fragment, type Fragments } from './live/fragments.ts';
import { LIVE_HEADER, LIVE_PATH, serveLive } from './live/liveRoute.ts';
import type { Watcher } from './live/watcher.ts';
import type { Elsewhere, Opened, Page, PageAction, PageParts, Problem, Viewer } from './page.ts';
import { ACTIONS, DOWNLOADS, PAGES, sectionsOf } from './pages.ts';
import { type Failure, problemView, statusOf } from './problem.tsx';
import { queryOf } from './query.ts';
import { createRenderer, type Renderer } from './render.tsx';
import { clearSessionCookie, readSessionCookie } from './session/cookie.ts';
import { ownPath } from './session/ownPath.ts';
import { addSignIn } from './session/signIn.ts';
import type { PeopleSignIn } from './session/signInParts.ts';
import { setTheme, THEME_PATH } from './theme.ts';

export interface PagesAppParts extends PageParts {
  readonly sessions: Sessions;
  /** Undefined: people sign in with tokens only. */
  readonly people: PeopleSignIn | undefined;
  readonly watcher: Watcher;
  readonly trustedProxies: TrustedProxies;
  /** Whether the database can be read. */
  readonly isReady: () => boolean;
  readonly log: Log;
}

const MAX_FORM_BYTES = 64 * 1024;

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
  for (const { path, type, content } of Object.values(assets)) {
    app.get(path, (_request, response) => {
      response.set('Cache-Control', 'public, max-age=31536000, immutable').type(type).send(content);
    });
  }
  const readForm = express.text({
    type: 'application/x-www-form-urlencoded',
    limit: MAX_FORM_BYTES,
    inflate: false,
  });
  addSignIn(app, { ...parts, renderer, readForm });
  app.use(requireSession(parts.sessions));
  const context: Context = {
    ...parts,
    renderer,
    deny: createDenialRecorder(parts.db, parts),
    fragments: createFragments(parts.watcher),
  };
  addSignOut(app, { ...context, readForm });
  addTheme(app, { ...context, readForm });
  app.get(LIVE_PATH, requireRead(context), serveLive(parts.watcher));
  for (const page of PAGES) app.get(expressPath(page.path), servePage(page, context));
  for (const download of DOWNLOADS) app.get(download.path, serveDownload(download, context));
  const refuseWrite = createWriteCheck(parts.db);
  for (const action of ACTIONS) {
    const read = action.maxFileBytes === undefined ? [readForm] : fileReaders(action, context);
    app.post(expressPath(action.path), ...read, serveAction(action, { ...context, refuseWrite }));
  }
  app.use((request, response) => {
    sendFailure(noPageAt(request), { request, response, renderer });
  });
  app.use(createErrorHandler(log, renderer));
  return app;
}

interface Context extends PagesAppParts {
  readonly renderer: Renderer;
  readonly deny: ReturnType<typeof createDenialRecorder>;
  readonly fragments: Fragments<Elsewhere | Problem>;
}

function guard({ consoleUrl }: PageParts['installation']): RequestHandler {
  const known = consoleUrl === undefined ? [] : [new URL(consoleUrl).hostname];
  return (request, response, next) => {
    response.set(PAGE_HEADERS);
    if (!isKnownHost(request.header('host'), known)) {
      const text =
        'The console does not respond under this name, because a foreign site could use it. ' +
        'Set PUBLIC_CONSOLE_URL to the address that you use, or use the IP address.\n';
      response.status(421).type('text/plain').send(text);
      return;
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !isSameOrigin(request, consoleUrl)) {
      const text = 'The request came from another site. Nothing was changed.\n';
      response.status(403).type('text/plain').send(text);
      return;
    }
    next();
  };
}

const SESSIONS = new WeakMap<Response, Session>();

function requireSession(sessions: Sessions): RequestHandler {
  return async (request, response, next) => {
    const cookie = readSessionCookie(request);
    const session = cookie === undefined ? undefined : await sessions.find(cookie);
    if (session) {
      SESSIONS.set(response, session);
      if (request.header(LIVE_HEADER) === undefined) sessions.touch(session.id);
      next();
      return;
    }
    const wanted = request.method === 'GET' ? request.originalUrl : '/';
    response.redirect(303, `/sign-in?${new URLSearchParams({ next: wanted })}`);
  };
}

function sessionOf(response: Response): Session {
  const session = SESSIONS.get(response);
  if (!session) throw new Error('a request was passed on without a session');
  return session;
}

function addSignOut(app: Express, parts: Context & { readonly readForm: RequestHandler }): void {
  const { renderer, sessions, trustedProxies } = parts;
  app.post('/sign-out', parts.readForm, async (request, response) => {
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

const FOREIGN_FORM: Failure = {
  outcome: 'forbidden',
  message:
    'The form was not sent from a page of this session, or the session has changed since. Nothing was ' +
    'changed. Go back, reload the page, and try again.',
};

function addTheme(app: Express, parts: Context & { readonly readForm: RequestHandler }): void {
  app.post(THEME_PATH, parts.readForm, async (request, response) => {
    const form = await readForm(request, sessionOf(response));
    if (!form) return sendFailure(FOREIGN_FORM, { request, response, renderer: parts.renderer });
    setTheme(response, form.theme);
    response.redirect(303, ownPath(typeof form.next === 'string' ? form.next : '/'));
  });
}

function servePage(page: Page, context: Context): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady } = context;
    const session = sessionOf(response);
    const at = { request, response, renderer };
    const denied = absenceOf(page, { subject: `GET ${page.path}`, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (session.isStale || !isReady()) return sendFailure(UNAVAILABLE, at);
    const { notice: _notice, ...query } = readFields(queryOf(request.originalUrl));
    const open = () =>
      page.open(context, {
        params: { ...request.params },
        query,
        actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
        role: session.holder.role,
        sessionId: session.id,
      });
    if (request.header(LIVE_HEADER) !== undefined) return await sendFragment(open, at, context);
    const place = context.watcher.place();
    const opened = await open();
    if (opened.outcome === 'elsewhere') return response.redirect(303, opened.to);
    if (opened.outcome !== 'ok') return sendFailure(opened, at);
    const { topics } = opened;
    const viewer = viewerOf(session, { request, nowMs: context.clock.nowMs() });
    const live = topics.length === 0 ? undefined : { topics, place };
    const html = renderer.render(opened.view(viewer), { request, response, session, live });
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

function requireRead(context: Context): RequestHandler {
  return (request, response, next) => {
    const at = { request, response, renderer: context.renderer };
    const denied = refusalOf('read', { subject: `GET ${LIVE_PATH}`, context, ...at });
    if (denied) sendFailure(denied, at);
    else if (sessionOf(response).isStale || !context.isReady()) sendFailure(UNAVAILABLE, at);
    else next();
  };
}

function serveDownload(download: Download, context: Context): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady } = context;
    const at = { request, response, renderer };
    const subject = `GET ${download.path}`;
    const denied = refusalOf(download.permission, { subject, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (sessionOf(response).isStale || !isReady()) return sendFailure(UNAVAILABLE, at);
    const opened = download.open(context, {
      query: readFields(queryOf(request.originalUrl)),
      actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
    });
    if (opened.outcome !== 'ok') return sendFailure(opened, at);
    response.attachment(download.fileName).type(download.type);
    // A failure after the first row cannot become a page: the connection is closed, so the browser
    // reports an incomplete file.
    await opened.send(response).catch((error: unknown) => {
      context.log.warn({ error }, 'console.download_failed');
    });
  };
}

interface ActionContext extends Context {
  readonly refuseWrite: ReturnType<typeof createWriteCheck>;
}

function serveAction(action: PageAction, context: ActionContext): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady, refuseWrite } = context;
    const session = sessionOf(response);
    const at = { request, response, renderer };
    const form = await readForm(request, session);
    if (!form) return sendFailure(FOREIGN_FORM, at);
    const denied = absenceOf(action, { subject: `POST ${action.path}`, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (session.isStale || !isReady()) return sendFailure(UNAVAILABLE, at);
    const refused = await refuseWrite();
    if (refused) {
      return sendFailure({ outcome: 'unexpected', message: messageOf(refused.body) }, at);
    }
    const acted = await action.act(context, {
      params: { ...request.params },
      form,
      actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
      sessionId: session.id,
    });
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

const UNAVAILABLE: Failure = {
  outcome: 'unavailable',
  message: 'The database is unavailable. Try again soon.',
};

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
  const limit = maxFileBytes + MAX_FORM_BYTES;
  return [refuse, express.raw({ type: 'multipart/form-data', limit, inflate: false })];
}

/** The fields of a form of this session; undefined if it was not sent from one of its pages. */
async function readForm(request: Request, session: Session): Promise<Fields | undefined> {
  const sent = Buffer.isBuffer(request.body)
    ? await readMultipart(request.header('content-type') ?? '', request.body)
    : new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  if (sent?.get('form_token') !== session.formToken) return undefined;
  sent.delete('form_token');
  return readFields(sent);
}

async function readMultipart(type: string, body: Buffer): Promise<FormData | undefined> {
  const parsed = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  return await parsed.formData().catch(() => undefined);
}

type Value = string | File;
type Fields = Readonly<Record<string, Value | readonly Value[]>>;

/** Empty fields count as absent; a name that was sent more than once has all its values. */
function readFields(sent: URLSearchParams | FormData): Fields {
  const names = new Set(sent.keys());
  const fields = [...names].map((name) => [name, sent.getAll(name).filter((one) => one !== '')]);
  return Object.fromEntries(
    fields
      .filter(([, values]) => values !== undefined && values.length > 0)
      .map(([name, values]) => [name, values?.length === 1 ? values[0] : values]),
  );
}

function noPageAt({ path }: Request): Failure {
  return { outcome: 'not_found', message: `There is no page at ${path}.` };
}

function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

interface At {
  readonly request: Request;
  readonly response: Response;
  readonly renderer: Renderer;
}

function sendFailure(failure: Failure, { request, response, renderer }: At): void {
  const session = SESSIONS.get(response);
  const html = renderer.render(problemView(failure), { request, response, session });
  response.status(statusOf(failure)).type('html').send(html);
}

/** Why the viewer has no such page or action: the role does not permit it, or the installation lacks it. */
function absenceOf(
  { permission, isOffered }: Pick<Page, 'permission' | 'isOffered'>,
  given: At & { readonly subject: string; readonly context: Context },
): Failure | undefined {
  const refusal = refusalOf(permission, given);
  return refusal ?? (isOffered?.(given.context) === false ? noPageAt(given.request) : undefined);
}

function refusalOf(
  permission: Permission,
  given: At & { readonly subject: string; readonly context: Context },
): Failure | undefined {
  const { request, response, subject, context } = given;
  const { role } = sessionOf(response).holder;
  if (permits(role, permission)) return undefined;
  const { deny, trustedProxies } = context;
  deny(actorOf(request, { response, trustedProxies }), { subject, permission });
  const roles = rolesWith(permission).join(', ');
  const message = `Your role is ${role}. Roles that may: ${roles}. Sign in with a token of such a role.`;
  return { outcome: 'forbidden', message };
}

function actorOf(
  request: Request,
  {
    response,
    trustedProxies,
  }: { readonly response: Response; readonly trustedProxies: TrustedProxies },
): Actor {
  return actorOfSession(sessionOf(response), clientAddress(request, trustedProxies));
}

function viewerOf(
  { holder: { role }, formToken }: Session,
  { request, nowMs }: { readonly request: Request; readonly nowMs: number },
): Viewer {
  return {
    role,
    may: (permission) => permits(role, permission),
    formToken,
    url: request.originalUrl,
    nowMs,
  };
}

function createErrorHandler(log: Log, renderer: Renderer): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    sendFailure(failureOf(error, log), { request, response, renderer });
  };
}

function failureOf(error: unknown, log: Log): Failure {
  if (error instanceof Error) {
    if (isDatabaseUnavailable(error) || isContended(error)) return UNAVAILABLE;
    const status = 'status' in error && typeof error.status === 'number' ? error.status : 500;
    if (status === 413) {
      return {
        outcome: 'invalid',
        message: 'The form or its file is too large. Nothing was done.',
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
