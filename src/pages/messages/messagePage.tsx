/** One outgoing message: its text, its attempts, and a resend. */
import { z } from 'zod';
import { resendMessageAs } from '../../actions/resendMessage.ts';
import { id, number, reasonGiven } from '../../console/schemas.ts';
import type { Content, Notification } from '../../notify/domain/message.ts';
import { messageJson } from '../../notify/messageJson.ts';
import { findMessageNumber, readMessageRow } from '../../notify/store/messageRows.ts';
import { type Column, DataTable, KeyValues, Preformatted, Section } from '../components/blocks.tsx';
import { ActionForm, Reason } from '../components/forms.tsx';
import { Id, Time } from '../components/values.tsx';
import { alertHref, messageHref, messagesHref, orderHref, resourceHref } from '../links.ts';
import { defineAction, definePage } from '../page.ts';
import { MessageState } from './messagesPage.tsx';

type Message = ReturnType<typeof messageJson>;

const params = z.strictObject({ message_number: number });

export const resendMessage = defineAction({
  path: '/messages/{message_number}/resend',
  permission: 'operate',
  params,
  form: z.strictObject({ reason: reasonGiven }),
  act: async (parts, { params: { message_number: place }, form: { reason }, actor }) => {
    const { db, channels } = parts;
    const resent = await resendMessageAs({ db, channels }, actor, { number: place, reason });
    switch (resent.outcome) {
      case 'due': {
        const notice = `The message is sent again to ${resent.message.channel}.`;
        return { outcome: 'done', to: messageHref(place), notice };
      }
      case 'unknown':
        return { outcome: 'not_found', message: `There is no message ${place}.` };
      case 'already_due': {
        const message = `The message ${place} is still retried. Nothing was changed.`;
        return { outcome: 'conflict', message };
      }
      case 'no_channel': {
        const message = `The channel ${resent.message.channel} is not configured. Nothing was changed.`;
        return { outcome: 'conflict', message };
      }
    }
  },
});

export const messagePage = definePage({
  path: '/messages/{message_number}',
  permission: 'read',
  params: z.strictObject({ message_number: z.union([number, id]) }),
  query: z.strictObject({}),
  load: async ({ db, installation }, { params: { message_number: place } }) => {
    const named = typeof place === 'string' ? await findMessageNumber(db, place) : place;
    // An alert names a message by its id.
    if (named !== undefined && named !== place) {
      return { outcome: 'elsewhere', to: messageHref(named) };
    }
    const row = named === undefined ? undefined : await readMessageRow(db, named);
    if (row) {
      const message = messageJson(row, installation);
      return { outcome: 'ok', data: { message, content: row.content } };
    }
    const message = `There is no message ${place}. Retention removes messages after some time.`;
    return { outcome: 'not_found', message };
  },
  topics: ({ message }) => [`message:${message.number}`],
  view: ({ message, content }, viewer) => ({
    title: `Message ${message.number}: ${message.title}`,
    crumbs: [{ label: 'Messages', href: messagesHref() }],
    body: (
      <>
        <Summary message={message} />
        <Subjects content={content} />
        <Section title="Text">
          <Preformatted label="Text">{message.lines.join('\n')}</Preformatted>
        </Section>
        <Section title="Attempts">
          <DataTable
            caption="Attempts, oldest first"
            columns={ATTEMPTS}
            rows={message.attempt_log}
            keyOf={({ attempt }) => String(attempt)}
            empty={
              message.attempts === 0
                ? 'No attempt yet. The first follows within seconds.'
                : 'An earlier version made the attempts and recorded none.'
            }
          />
        </Section>
        {message.state === 'due' ? null : (
          <Section title="Send it again">
            <p>
              The id and the content stay the same, so that a receiver that has the message
              recognizes it.
            </p>
            <ActionForm
              viewer={viewer}
              action={resendMessage}
              params={{ message_number: message.number }}
              label="Resend"
            >
              <Reason />
            </ActionForm>
          </Section>
        )}
      </>
    ),
  }),
});

function Summary({ message }: { readonly message: Message }) {
  return (
    <KeyValues
      rows={[
        ['State', <MessageState key="state" state={message.state} />],
        ['Channel', message.channel],
        ['Kind', message.kind],
        ['Id', <Id key="id" id={message.message_id} />],
        ['Created', <Time key="created" at={message.created_at} />],
        ['Next attempt', <Time key="next" at={message.next_attempt_at} />],
        ['Settled', <Time key="settled" at={message.settled_at} />],
        ['Sent again', <Time key="resent" at={message.resent_at} />],
      ]}
    />
  );
}

/** What the message is about, with links. */
function Subjects({ content }: { readonly content: Content }) {
  switch (content.kind) {
    case 'alert':
      return <Alerts alerts={[content.alert]} />;
    case 'digest':
      return <Alerts alerts={content.urgent} />;
    case 'order':
      return (
        <p>
          About order <Id id={content.orderId} href={orderHref(content.orderId)} />.
        </p>
      );
    case 'summary':
    case 'test':
      return null;
  }
}

function Alerts({ alerts }: { readonly alerts: readonly Notification[] }) {
  return (
    <DataTable
      caption="Alerts in this message"
      columns={ALERTS}
      rows={alerts}
      keyOf={({ alertId }) => String(alertId)}
      empty="None."
    />
  );
}

const ALERTS: readonly Column<Notification>[] = [
  {
    title: 'Alert',
    cell: ({ alertId, rule }) => <a href={alertHref(alertId)}>{`${alertId}: ${rule}`}</a>,
  },
  {
    title: 'Order',
    cell: ({ orderId }) => (orderId === null ? '–' : <Id id={orderId} href={orderHref(orderId)} />),
  },
  {
    title: 'Payment',
    cell: ({ paymentId }) =>
      paymentId === null ? '–' : <Id id={paymentId} href={resourceHref('payment', paymentId)} />,
  },
];

const ATTEMPTS: readonly Column<Message['attempt_log'][number]>[] = [
  { title: 'Attempt', cell: ({ attempt }) => attempt },
  { title: 'Time', cell: ({ at }) => <Time at={at} /> },
  { title: 'Outcome', cell: ({ outcome }) => outcome },
  { title: 'Response', cell: ({ response }) => response },
];
