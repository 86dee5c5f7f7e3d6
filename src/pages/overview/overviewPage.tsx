/** The overview: is money flowing, and is anything wrong? */
import { z } from 'zod';
import { ordersHref } from '../links.ts';
import { definePage } from '../page.ts';

export const overviewPage = definePage({
  path: '/',
  permission: 'read',
  params: z.strictObject({}),
  query: z.strictObject({}),
  load: () => Promise.resolve({ outcome: 'ok', data: {} }),
  view: () => ({
    title: 'Overview',
    body: (
      <p>
        <a href={ordersHref()}>All orders</a>
      </p>
    ),
  }),
});
