/** One event: its state, what it changed, its body as text, its findings, replay and discard. */
import { z } from 'zod';
import { discardEventAs } from '../../actions/discardEvent.ts';
import { replayEventsAs } from '../../actions/replayEvents.ts';
import { id, reasonGiven } from '../../console/schemas.ts';
import { describeAbsence } from '../../ledger/domain/bodyAbsence.ts';
import { type EventDetail, readEventDetail } from '../../ledger/read/eventDetail.ts';
import { type EventFinding, type EventSummary, findEvent } from '../../ledger/read/store/parts.ts';
import { readEventChanges } from '../../trail/eventChanges.ts';
import { type Column, DataTable, KeyValues, Preformatted, Section } from '../components/blocks.tsx';
import { ActionForm, Reason } from '../components/forms.tsx';
import { Id, Time } from '../components/values.tsx';
import { Facts } from '../findings/Facts.tsx';
import { eventHref, findingHref, inboxHref } from '../links.ts';
import { defineAction, definePage, type Viewer } from '../page.ts';
import { EventChanges } from './EventChanges.tsx';
import { foldedJson, type JsonPart } from './foldedJson.ts';
import { EventBadge } from './inboxPage.tsx';

const params = z.strictObject({ event: id });

export const replayEvent = defineAction({
  path: '/inbox/{event}/replay',
  permission: 'operate',
  params,
  form: z.strictObject({}),
  act: async ({ db, enqueueEvents }, { params: { event: name }, actor }) => {
    const found = await findEvent(db, name);
    if (!found) return unknown(name);
    const parts = { db, enqueue: enqueueEvents };
    const { refused } = await replayEventsAs(parts, actor, [found.id]);
    const [refusal] = refused;
    if (refusal) {
      const message = `The event ${found.id} cannot be replayed: ${refusal.reason}.`;
      return { outcome: 'conflict', message };
    }
    return { outcome: 'done', to: eventHref(found.id), notice: 'The event will be applied again.' };
  },
});

export const discardEvent = defineAction({
  path: '/inbox/{event}/discard',
  permission: 'operate',
  params,
  form: z.strictObject({ reason: reasonGiven }),
  act: async ({ db }, { params: { event: name }, form: { reason }, actor }) => {
    const found = await findEvent(db, name);
    if (!found) return unknown(name);
    if (await discardEventAs({ db }, actor, { number: found.id, reason })) {
      return { outcome: 'done', to: eventHref(found.id), notice: 'The event is discarded.' };
    }
    const message = `The event ${found.id} is ${found.state}, not dead. Nothing was changed.`;
    return { outcome: 'conflict', message };
  },
});

function unknown(name: string) {
  const message = `No event is known as ${JSON.stringify(name)}. Retention removes events after some time.`;
  return { outcome: 'not_found', message } as const;
}

export const eventPage = definePage({
  path: '/inbox/{event}',
  permission: 'read',
  params,
  query: z.strictObject({}),
  load: async ({ db }, { params: { event: name } }) => {
    const event = await findEvent(db, name);
    const detail = event && (await readEventDetail(db, event.id));
    if (!event || !detail) return unknown(name);
    const changes = await readEventChanges(db, event);
    return { outcome: 'ok', data: { event, detail, changes } };
  },
  topics: ({ event }) => [`event:${event.id}`, 'inbox', 'ledger', 'messages'],
  view: ({ event, detail, changes }, viewer) => ({
    title: `Event ${event.id}`,
    crumbs: [{ label: 'Inbox', href: inboxHref() }],
    body: (
      <>
        <Summary event={event} />
        <EventChanges changes={changes} />
        <Section title="Body">
          <Body body={detail.body} />
        </Section>
        {detail.variants.length > 0 ? <Variants detail={detail} /> : null}
        <Section title="Findings">
          <DataTable
            caption="Findings about this event"
            columns={FINDINGS}
            rows={detail.findings}
            keyOf={(finding) => String(finding.id)}
            empty="None: the event could be read and applied, or waits."
          />
        </Section>
        <Actions event={event} viewer={viewer} />
      </>
    ),
  }),
});

function Summary({ event }: { readonly event: EventSummary }) {
  return (
    <KeyValues
      rows={[
        ['State', <EventBadge key="state" state={event.state} />],
        ['Event', event.eventId === null ? 'no envelope' : <Id key="id" id={event.eventId} />],
        ['Type', event.eventType ?? 'unknown'],
        ['Merchant', event.merchantId ?? 'unknown'],
        ['Received', <Time key="received" at={event.receivedAt} />],
        ['Attempts', event.attempts],
        [
          'Secret',
          event.secretFingerprint === null ? (
            'not recorded by the version that received it'
          ) : (
            <code key="secret">{event.secretFingerprint}</code>
          ),
        ],
        ...(event.error === null ? [] : [['Error', event.error] as const]),
        ...(event.discardedAt === null
          ? []
          : [['Discarded', `by ${event.discardedBy}: ${event.discardedReason}`] as const]),
      ]}
    />
  );
}

function Body({ body }: Pick<EventDetail, 'body'>) {
  if (!Buffer.isBuffer(body)) {
    return <p class="empty">{`No body is stored: ${describeAbsence(body)}.`}</p>;
  }
  const part = foldedJson(body.toString('utf8'));
  return part.kind === 'text' ? (
    <Preformatted label="Body">{part.text}</Preformatted>
  ) : (
    <Folded part={part} />
  );
}

/** An object or a list can be folded; without a script, too. */
function Folded({ part }: { readonly part: JsonPart }) {
  if (part.kind === 'text') {
    return (
      <div>
        <code>{part.text}</code>
      </div>
    );
  }
  return (
    <details class="json" open>
      <summary>
        <code>{part.summary}</code>
      </summary>
      {part.parts.map((inner) => (
        <Folded key={inner.place} part={inner} />
      ))}
    </details>
  );
}

function Variants({ detail }: { readonly detail: EventDetail }) {
  return (
    <Section title="Other bodies under this event id">
      <p>They arrived later and were not applied.</p>
      {detail.variants.map(({ body, bodySha256 }) => (
        <Preformatted key={bodySha256} label={`Variant ${bodySha256}`}>
          {body?.toString('utf8') ?? 'removed'}
        </Preformatted>
      ))}
      {detail.areVariantsComplete ? null : <p>There are more.</p>}
    </Section>
  );
}

const FINDINGS: readonly Column<EventFinding>[] = [
  {
    title: 'Finding',
    cell: (row) => <a href={findingHref(row.id)}>{`${row.id}: ${row.class}`}</a>,
  },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Facts', cell: ({ detail }) => <Facts detail={detail} /> },
];

function Actions({ event, viewer }: { readonly event: EventSummary; readonly viewer: Viewer }) {
  const at = { event: event.id };
  return (
    <Section title="Handle it">
      <p>A replay changes nothing in the ledger if the event was applied.</p>
      <ActionForm viewer={viewer} action={replayEvent} params={at} label="Replay" />
      {event.state === 'dead' ? (
        <ActionForm
          viewer={viewer}
          action={discardEvent}
          params={at}
          label="Discard"
          isDangerous={true}
        >
          <Reason />
        </ActionForm>
      ) : null}
    </Section>
  );
}
