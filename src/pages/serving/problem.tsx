/** The page of a problem: what happened, and what to do next. */
import { Marked } from '../components/values.tsx';
import { overviewHref } from '../links.ts';
import type { Crumb, PageView, Problem } from '../page.ts';

const TITLES = {
  invalid: 'The request is invalid',
  not_found: 'Not found',
  conflict: 'Nothing was changed',
  gone: 'Removed',
  unavailable: 'Unavailable',
  busy: 'The database is busy',
  unknown: 'The outcome is unknown',
  forbidden: 'Your role may not do this',
  unexpected: 'The page failed',
} as const;

const STATUSES = {
  invalid: 400,
  not_found: 404,
  conflict: 409,
  gone: 410,
  unavailable: 503,
  busy: 503,
  unknown: 504,
  forbidden: 403,
  unexpected: 500,
} as const;

export interface Failure {
  readonly outcome: Problem['outcome'] | 'busy' | 'forbidden' | 'unexpected';
  readonly message: string;
  readonly about?: Crumb;
  /** The database is unavailable: the page can be shown when it is back. */
  readonly endsWithOutage?: boolean;
}

export function statusOf({ outcome }: Failure): number {
  return STATUSES[outcome];
}

/** @param opensItself whether the script opens the page when the outage ends */
export function problemView(
  { outcome, message, about }: Failure,
  { opensItself }: { readonly opensItself: boolean } = { opensItself: false },
): PageView {
  return {
    title: TITLES[outcome],
    body: (
      <>
        <p class="problem">
          <Marked text={message} />
        </p>
        {opensItself ? (
          <p id="opens-itself" class="scripted" role="status">
            This page opens by itself when the database is available again.
          </p>
        ) : null}
        {about === undefined ? null : (
          <p>
            <a href={about.href}>{about.label}</a>
          </p>
        )}
        <p>
          <a href={overviewHref()}>Go to the overview</a>
        </p>
      </>
    ),
  };
}
