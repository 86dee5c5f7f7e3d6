/** What happened, oldest first, with the cause of each entry and links to what it names. */
import { formatInstant } from '../../ledger/domain/time.ts';
import type { Cause, TimelineEntry } from '../../ledger/domain/timeline.ts';
import type { Timeline as ReadTimeline } from '../../ledger/read/timeline.ts';
import { Time } from '../components/values.tsx';
import { alertHref, eventHref, findingHref, resourceHref, thingHref } from '../links.ts';

interface NamedPage {
  readonly label: string;
  readonly href: string;
}

export function Timeline({
  timeline,
  isTimelineComplete,
  of,
}: ReadTimeline & {
  /** The address of the page itself, which needs no link to it. */
  readonly of: string;
}) {
  return (
    <>
      <ol class="timeline">
        {timeline.map((entry, index) => (
          <li key={`${entry.atMicros}:${index}`}>
            <Time at={formatInstant(entry.atMicros)} /> <span>{entry.text}</span>
            <CauseOf entry={entry} />
            <PageLink page={pageOf(entry)} of={of} />
          </li>
        ))}
      </ol>
      {isTimelineComplete ? null : <p>Only the newest entries are shown.</p>}
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
  // Retention may have removed an event that the ledger cannot name anymore.
  if (eventId === null) return <>{`event (unnamed), ${number}`}</>;
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
