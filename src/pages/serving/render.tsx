/** Renders a page in its frame. */
import type { Request, Response } from 'express';
import { render } from 'preact-render-to-string';
import type { Session } from '../../access/sessions.ts';
import { packageVersion } from '../../platform/packageRoot.ts';
import { queryOf, withQuery } from '../../platform/query.ts';
import { Layout } from '../components/Layout.tsx';
import { LiveRegion, type LiveRegionProps } from '../live/LiveRegion.tsx';
import type { PageView } from '../page.ts';
import type { SectionLink } from '../pages.ts';
import type { Assets } from './assets.ts';
import { readTheme } from './theme.ts';

export interface Rendered {
  readonly response: Response;
  readonly request?: Request | undefined;
  readonly session?: Session | undefined;
  readonly live?: Live | undefined;
  /** How old what a page shows can be; undefined: it is current. */
  readonly ageMs?: number | undefined;
}

type Live = Pick<LiveRegionProps, 'topics' | 'place'>;

export interface Renderer {
  readonly render: (view: PageView, rendered: Rendered) => string;
  /** The part of a page that follows its topics, without its frame. */
  readonly renderLive: (view: PageView, live: Live) => string;
}

export function createRenderer({
  installation,
  assets,
  sections,
}: {
  readonly installation: string;
  readonly assets: Assets;
  /** Those of this installation. */
  readonly sections: readonly SectionLink[];
}): Renderer {
  const version = packageVersion();
  const paths = { css: assets.css.path, js: assets.js.path };
  return {
    render: ({ title, crumbs = [], body }, { request, response, session, live, ageMs }) => {
      const asked = request ?? response.req;
      const frame = {
        installation,
        version,
        assets: paths,
        viewer: session && { holder: session.holder, formToken: session.formToken },
        nav: navOf(sections, asked.path),
        notice: session && noticeOf(asked, session),
        theme: readTheme(asked),
        shortcuts: shortcutsOf(sections),
        url: withoutNotice(asked.originalUrl),
        live,
        ageMs,
      };
      const html = render(
        <Layout frame={frame} title={title} crumbs={crumbs}>
          {body}
        </Layout>,
      );
      return `<!doctype html>${legible(html)}`;
    },
    renderLive: ({ body }, live) =>
      legible(
        render(
          <LiveRegion assets={paths} {...live}>
            {body}
          </LiveRegion>,
        ),
      ),
  };
}

/**
 * The values of fields, or else a character that controls a device or the direction of the text after it.
 * Quotation marks and angle brackets of text are escaped, so these are attributes and elements.
 */
const VALUES_OR_CONTROL =
  /( value="[^"]*"|<textarea\b[^>]*>[^<]*)|(?![\t\n\r])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Text from outside must not change how what stands beside it is read: an override turns `12.30` into `03.21`.
 * In a field it changes nothing beside it, and a person sends back what was shown.
 */
function legible(html: string): string {
  return html.replaceAll(VALUES_OR_CONTROL, (_found, value?: string) => value ?? '\uFFFD');
}

function shortcutsOf(sections: readonly SectionLink[]) {
  return sections.flatMap(({ label, path, shortcut }) =>
    shortcut === undefined ? [] : [{ label, href: path, shortcut }],
  );
}

function withoutNotice(url: string): string {
  const kept = queryOf(url);
  kept.delete('notice');
  return withQuery(url, kept);
}

function navOf(sections: readonly SectionLink[], current: string) {
  return sections.map(({ label, path, startsGroup = false }) => ({
    label,
    href: path,
    startsGroup,
    isCurrent: path === '/' ? current === '/' : current === path || current.startsWith(`${path}/`),
  }));
}

/** What an action announced on the page that it led to. Only this session can have written it. */
function noticeOf({ originalUrl }: Request, session: Session): string | undefined {
  const given = queryOf(originalUrl).get('notice');
  const split = given?.indexOf('.') ?? -1;
  if (given === null || split < 0) return undefined;
  const text = given.slice(split + 1);
  return session.sign(text) === given.slice(0, split) ? text : undefined;
}
