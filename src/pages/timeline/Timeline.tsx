/** What happened, oldest first, by either time, with the cause of each entry and links to what it names. */

import { z } from 'zod';
import { type TimeBasis, timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import {
  type Cause,
  effectiveMicrosOf,
  type TimelineEntry,
  timelineBy,
} from '../../ledger/domain/timeline.ts';
import type { Timeline as ReadTimeline } from '../../ledger/read/timeline.ts';
import { Time } from '../components/values.tsx';
import {
  alertHref,
  eventHref,
  findingHref,
  resourceHref,
  thingHref,
  timelineHref,
} from '../links.ts';
import type { Viewer } from '../page.ts';

/** What a page with a timeline takes in its query. */
export const timelineQuery = { recorded: z.literal('1').optional() };
export interface TimelineQuery {
  readonly recorded?: '1' | undefined;
}

interface NamedPage {
  readonly label: string;
  readonly href: string;
}

export function Timeline({
  timeline,
  isTimelineComplete,
  of,
  url,
  query: { recorded },
}: ReadTimeline & {
  /** The address of the page itself, which needs no link to it. */
  readonly of: string;
  readonly url: Viewer['url'];
  readonly query: TimelineQuery;
}) {
  const basis = timeBasis({ isRecorded: recorded !== undefined });
  return (
    <>
      <Choice basis={basis} url={url} />
      <ol class="timeline">
        {timelineBy(basis, timeline).map((entry, index) => (
          <li key={`${entry.atMicros}:${index}`}>
            <Times basis={basis} entry={entry} /> <span>{entry.text}</span>
            <CauseOf entry={entry} />
            <PageLink page={pageOf(entry)} of={of} />
          </li>
        ))}
      </ol>
      {isTimelineComplete ? null : <p>Only the entries that were recorded last are shown.</p>}
    </>
  );
}

function Choice({ basis, url }: { readonly basis: TimeBasis } & Pick<Viewer, 'url'>) {
  switch (basis) {
    case 'effective':
      return (
        <p>
          By the time at which the service made each change.{' '}
          <a href={timelineHref(url, '1')}>By the time at which it was recorded</a>
        </p>
      );
    case 'recorded':
      return (
        <p>
          By the time at which each entry was recorded.{' '}
          <a href={timelineHref(url, undefined)}>
            By the time at which the service made each change
          </a>
        </p>
      );
  }
}

/** The time of the order, and the other one if it is not in the same second. */
function Times({ basis, entry }: { readonly basis: TimeBasis; readonly entry: TimelineEntry }) {
  const { atMicros } = entry;
  const effectiveMicros = effectiveMicrosOf(entry);
  const [first, other] =
    basis === 'effective' ? [effectiveMicros, atMicros] : [atMicros, effectiveMicros];
  const isSame = Math.floor(first / 1_000_000) === Math.floor(other / 1_000_000);
  if (isSame) return <Time at={formatInstant(first)} />;
  return (
    <>
      <Time at={formatInstant(first)} />{' '}
      <small>
        {basis === 'effective' ? 'recorded ' : 'effective '}
        <Time at={formatInstant(other)} />
      </small>
    </>
  );
}

/** What made the ledger change: an event of the inbox, or a response of the service. */
function CauseOf({ entry }: { readonly entry: TimelineEntry }) {
  const cause = 'cause' in entry ? entry.cause : null;
  if (cause === null || cause === undefined) return null;
  return (
    <small class="cause">
      {' '}
      because of <CauseName cause={cause} />
    </small>
  );
}

function CauseName({ cause: { source, eventNumber, eventId } }: { readonly cause: Cause }) {
  if (eventNumber === null) return <>{`a ${source}`}</>;
  const number = `inbox number ${eventNumber}`;
  if (eventId === null) return <>{`an event that retention has removed, ${number}`}</>;
  return (
    <>
      {`event ${eventId}, `}
      <a href={eventHref(eventNumber)}>{number}</a>
    </>
  );
}

function PageLink({ page, of }: { readonly page: NamedPage | undefined; readonly of: string }) {
  if (!page || page.href === of) return null;
  return (
    <small>
      {' '}
      <a href={page.href}>{page.label}</a>
    </small>
  );
}

/** The page of what an entry is about; undefined if it has none. */
function pageOf(entry: TimelineEntry): NamedPage | undefined {
  switch (entry.type) {
    case 'event':
      return entry.eventId === null
        ? undefined
        : { label: `Event ${entry.number}`, href: eventHref(entry.number) };
    case 'snapshot':
    case 'transfer': {
      const { kind, id } = entry;
      return { label: `${kind} ${id}`, href: resourceHref(kind, id) };
    }
    case 'finding_opened':
    case 'finding_closed':
      return { label: `Finding ${entry.number}`, href: findingHref(entry.number) };
    case 'alert_opened':
    case 'alert_acknowledged':
    case 'alert_resolved':
      return { label: `Alert ${entry.number}`, href: alertHref(entry.number) };
    case 'action': {
      const { subjectKind: kind, subjectId: id } = entry;
      const href = thingHref({ kind, id });
      return href === undefined ? undefined : { label: `${kind} ${id}`, href };
    }
    case 'status':
    case 'registered':
      return undefined;
  }
}
