/** The list of outgoing messages. */
import { z } from 'zod';
import { cursor } from '../../console/schemas.ts';
import { CHANNELS } from '../../notify/domain/message.ts';
import { messageJson } from '../../notify/messageJson.ts';
import { MESSAGE_KINDS, MESSAGE_STATES, searchMessages } from '../../notify/store/messageRows.ts';
import { numberCursor, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { messageHref, messagesHref } from '../links.ts';
import { emptyText, ListEnd, PAGE_SIZE } from '../lists/ListFrame.tsx';
import { definePage } from '../page.ts';

export const messagesPage = definePage({
  path: '/messages',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({
    state: z.enum(MESSAGE_STATES).optional(),
    channel: z.enum(CHANNELS).optional(),
    kind: z.enum(MESSAGE_KINDS).optional(),
    cursor,
  }),
  load: async ({ db, installation }, { query }) => {
    const from = readCursor(query.cursor, numberPlace);
    if (from.outcome !== 'read') return from;
    const { rows, next } = await searchMessages(
      db,
      { state: query.state, channel: query.channel, kind: query.kind },
      { below: from.place?.[0] ?? Number.MAX_SAFE_INTEGER, limit: PAGE_SIZE },
    );
    const messages = rows.map((row) => messageJson(row, installation));
    return { outcome: 'ok', data: { messages, next: numberCursor(next), query } };
  },
  topics: () => ['messages', 'system'],
  view: ({ messages, next, query: { cursor: current, ...filter } }) => ({
    title: 'Messages',
    body: (
      <>
        <FilterForm action={messagesHref()}>
          <Select
            name="state"
            label="State"
            value={filter.state}
            any="Any"
            options={MESSAGE_STATES}
          />
          <Select
            name="channel"
            label="Channel"
            value={filter.channel}
            any="Any"
            options={CHANNELS}
          />
          <Select name="kind" label="Kind" value={filter.kind} any="Any" options={MESSAGE_KINDS} />
        </FilterForm>
        <DataTable
          caption="Outgoing messages, newest first"
          columns={COLUMNS}
          rows={messages}
          keyOf={({ number }) => String(number)}
          empty={emptyText(
            { current, next },
            'No message matches. Send one through each channel: npx tallyhook alerts test.',
          )}
        />
        <ListEnd
          found={messages.length}
          query={filter}
          current={current}
          next={next}
          hrefOf={messagesHref}
        />
      </>
    ),
  }),
});

type Message = ReturnType<typeof messageJson>;

const COLUMNS: readonly Column<Message>[] = [
  {
    title: 'Message',
    cell: ({ number, title }) => <a href={messageHref(number)}>{`${number}: ${title}`}</a>,
  },
  { title: 'Channel', cell: ({ channel }) => channel },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'State', cell: ({ state }) => <MessageState state={state} /> },
  { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { title: 'Last error', cell: ({ last_error: error }) => error ?? '' },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
];

const TONES: Readonly<Record<Message['state'], Tone>> = {
  due: 'warn',
  delivered: 'good',
  failed: 'bad',
};

export function MessageState({ state }: Pick<Message, 'state'>) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
