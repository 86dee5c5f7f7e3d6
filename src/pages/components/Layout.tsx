/** The frame of every page: head, header, navigation beside or above the page, notice, main, footer. */
import type { ComponentChildren } from 'preact';
import type { Holder } from '../../access/verifyToken.ts';
import { accountHref, overviewHref, searchHref } from '../links.ts';
import { LiveRegion, type LiveRegionProps } from '../live/LiveRegion.tsx';
import type { Crumb } from '../page.ts';
import { THEME_PATH, THEMES, type Theme } from '../serving/theme.ts';
import { Help, type HelpItem } from './Help.tsx';

export interface NavItem {
  readonly label: string;
  readonly href: string;
  readonly isCurrent: boolean;
  /** Set apart from the sections before it. */
  readonly startsGroup: boolean;
}

export interface Frame {
  /** What people call this installation. */
  readonly installation: string;
  /** Of Tallyhook, which this process runs. */
  readonly version: string;
  readonly assets: { readonly css: string; readonly js: string };
  /** Undefined before the sign-in. */
  readonly viewer: { readonly holder: Holder; readonly formToken: string } | undefined;
  readonly nav: readonly NavItem[];
  readonly notice: string | undefined;
  readonly theme: Theme;
  readonly shortcuts: readonly HelpItem[];
  /** Path and query of the page. */
  readonly url: string;
  /** What the page follows; undefined: nothing. */
  readonly live: Pick<LiveRegionProps, 'topics' | 'place'> | undefined;
  /** How old what it shows can be, if it was read from a standby. */
  readonly ageMs: number | undefined;
}

export interface LayoutProps {
  readonly frame: Frame;
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  readonly children: ComponentChildren;
}

export function Layout({ frame, title, crumbs, children }: LayoutProps) {
  const { assets, installation, live, nav, notice, theme, viewer } = frame;
  const isHome = nav.some(({ href, isCurrent }) => isCurrent && href === overviewHref());
  return (
    <html lang="en" data-theme={theme === 'system' ? undefined : theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · ${installation}`}</title>
        <link rel="stylesheet" href={assets.css} />
        <link rel="icon" href="data:," />
        <script src={assets.js} defer></script>
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Header frame={frame} />
        <div class={viewer ? 'desk' : undefined}>
          {viewer ? <Nav nav={nav} /> : null}
          <div class="page">
            {viewer && !isHome ? <Crumbs crumbs={crumbs} title={title} /> : null}
            <main id="main" tabIndex={-1}>
              <h1>{title}</h1>
              {notice === undefined ? null : (
                <p class="notice" role="status">
                  {notice}
                </p>
              )}
              {live ? (
                <LiveRegion assets={assets} {...live}>
                  {children}
                </LiveRegion>
              ) : (
                children
              )}
            </main>
            {viewer ? <Footer frame={frame} formToken={viewer.formToken} /> : null}
          </div>
        </div>
      </body>
    </html>
  );
}

function Header({ frame: { installation, viewer } }: { readonly frame: Frame }) {
  return (
    <header class="top">
      <a class="home" href={overviewHref()}>
        {installation}
      </a>
      {viewer ? (
        <>
          <SearchForm />
          <Account {...viewer} />
        </>
      ) : null}
    </header>
  );
}

function SearchForm() {
  return (
    <search>
      <form class="search" method="get" action={searchHref()}>
        <label class="hidden" for="search">
          Search ids and amounts
        </label>
        <input
          id="search"
          name="q"
          type="search"
          placeholder="Id, alert 12, 54.00 EUR"
          autocomplete="off"
          maxLength={255}
          required
        />
        <button type="submit">Search</button>
      </form>
    </search>
  );
}

function Footer({ frame, formToken }: { readonly frame: Frame; readonly formToken: string }) {
  const { ageMs, live, shortcuts, theme, url, version } = frame;
  return (
    <footer class="bottom">
      {live ? (
        <p class="live">
          <span id="live-mark" aria-hidden="true" hidden>
            Live
          </span>
          <span id="live-state" role="status"></span>
        </p>
      ) : null}
      <form method="post" action={THEME_PATH}>
        <input type="hidden" name="form_token" value={formToken} />
        <input type="hidden" name="next" value={url} />
        <fieldset>
          <legend>Theme</legend>
          {THEMES.map((one) => (
            <button
              key={one}
              type="submit"
              name="theme"
              value={one}
              aria-pressed={one === theme ? 'true' : 'false'}
            >
              {one}
            </button>
          ))}
        </fieldset>
      </form>
      <button type="button" class="scripted" data-help="">
        Keyboard shortcuts
      </button>
      {ageMs === undefined ? null : (
        <p>{`Read from a standby, up to ${Math.max(1, Math.ceil(ageMs / 1000))} s old`}</p>
      )}
      <p>{`Tallyhook ${version}`}</p>
      <p id="short-notice" role="status"></p>
      <Help items={shortcuts} />
    </footer>
  );
}

function Nav({ nav }: Pick<Frame, 'nav'>) {
  return (
    <nav class="sections" aria-label="Main">
      <ul>
        {nav.map(({ label, href, isCurrent, startsGroup }) => (
          <li key={href} class={startsGroup ? 'starts' : undefined}>
            <a href={href} aria-current={isCurrent ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Account({ holder, formToken }: NonNullable<Frame['viewer']>) {
  return (
    <form class="account" method="post" action="/sign-out">
      <input type="hidden" name="form_token" value={formToken} />
      <a href={accountHref()}>{`${holder.name} (${holder.role})`}</a>
      <button type="submit">Sign out</button>
    </form>
  );
}

function Crumbs({ crumbs, title }: Pick<LayoutProps, 'crumbs' | 'title'>) {
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      <ol>
        <li>
          <a href={overviewHref()}>Overview</a>
        </li>
        {crumbs.map(({ label, href }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
        <li aria-current="page">{title}</li>
      </ol>
    </nav>
  );
}
