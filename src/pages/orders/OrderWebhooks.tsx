/** The order webhooks that the shop got about an order, with their state. */
import { readChangeNumbers } from '../../ledger/read/store/orders.ts';
import { type MessageRow, readOrderWebhooks } from '../../notify/store/messageRows.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type Column, DataTable, Section } from '../components/blocks.tsx';
import { Time } from '../components/values.tsx';
import { messageHref } from '../links.ts';
import { MessageState } from '../messages/messagesPage.tsx';

/** Orders have a handful of changes. */
const MAX_CHANGES = 100;

/** Those of the last changes of an order, oldest first. */
export async function readWebhooksOfOrder(
  db: Queryable,
  orderKey: string,
): Promise<readonly MessageRow[]> {
  const numbers = await readChangeNumbers(db, { orderKey, limit: MAX_CHANGES });
  return await readOrderWebhooks(db, numbers, MAX_CHANGES);
}

export function OrderWebhooks({ webhooks }: { readonly webhooks: readonly MessageRow[] }) {
  return (
    <Section title="Order webhooks">
      <DataTable
        caption="Messages to the shop about this order, oldest first"
        columns={COLUMNS}
        rows={webhooks}
        keyOf={({ number }) => String(number)}
        empty="None. ORDER_WEBHOOK_URL sets where they are sent; retention removes old ones."
      />
    </Section>
  );
}

const COLUMNS: readonly Column<MessageRow>[] = [
  {
    title: 'Message',
    cell: ({ number, content }) => (
      <a href={messageHref(number)}>
        {`${number}: ${content.kind === 'order' ? content.type : content.kind}`}
      </a>
    ),
  },
  { title: 'State', cell: ({ state }) => <MessageState state={state} /> },
  { title: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { title: 'Last error', cell: ({ lastError }) => lastError ?? '' },
  { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];
