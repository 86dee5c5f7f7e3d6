/** The pages of the console and their actions, one line each. Tests of all pages run over these tables. */
import { orderPage } from './orders/orderPage.tsx';
import { ordersPage } from './orders/ordersPage.tsx';
import { overviewPage } from './overview/overviewPage.tsx';
import type { Page, PageAction } from './page.ts';

export const PAGES: readonly Page[] = [overviewPage, ordersPage, orderPage];

export const ACTIONS: readonly PageAction[] = [];

/** The navigation: the sections that have a page, in this order. */
export const SECTIONS: readonly { readonly label: string; readonly path: string }[] = [
  { label: 'Overview', path: '/' },
  { label: 'Orders', path: '/orders' },
  { label: 'Payments', path: '/payments' },
  { label: 'Refunds', path: '/refunds' },
  { label: 'Disputes', path: '/disputes' },
  { label: 'Payouts', path: '/payouts' },
  { label: 'Authorizations', path: '/authorizations' },
  { label: 'Inbox', path: '/inbox' },
  { label: 'Reconciliation', path: '/reconciliation' },
  { label: 'Findings', path: '/findings' },
  { label: 'Alerts', path: '/alerts' },
  { label: 'Messages', path: '/messages' },
  { label: 'Ledger', path: '/ledger' },
  { label: 'System', path: '/system' },
].filter(({ path }) => PAGES.some((page) => page.path === path));
