/** What serving a page, a download or an action needs. */
import type { Request, Response } from 'express';
import type { Sessions } from '../../access/sessions.ts';
import type { Refusals } from '../../audit/refusals.ts';
import type { TrustedProxies } from '../../platform/clientAddress.ts';
import type { Reads } from '../../platform/db/reads.ts';
import type { Log } from '../../platform/log.ts';
import type { Fragments } from '../live/fragments.ts';
import type { Watcher } from '../live/watcher.ts';
import type { Elsewhere, PageParts, Problem } from '../page.ts';
import type { PeopleSignIn } from '../session/signInParts.ts';
import type { Renderer } from './render.tsx';

export interface PagesAppParts extends PageParts {
  readonly sessions: Sessions;
  /** Undefined: people sign in with tokens only. */
  readonly people: PeopleSignIn | undefined;
  readonly watcher: Watcher;
  /** Where pages are read; actions use the primary. */
  readonly reads: Reads;
  readonly trustedProxies: TrustedProxies;
  /** Records what was refused. */
  readonly refusals: Refusals;
  /** Whether the database can be read. */
  readonly isReady: () => boolean;
  /** Throws unless the database responds, on a connection that no page waits for. */
  readonly probe: () => Promise<void>;
  readonly log: Log;
}

export interface Context extends PagesAppParts {
  readonly renderer: Renderer;
  readonly fragments: Fragments<Elsewhere | Problem>;
}

/** A request, its response, and what renders it. */
export interface At {
  readonly request: Request;
  readonly response: Response;
  readonly renderer: Renderer;
}
