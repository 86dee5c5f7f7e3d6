/** The addresses that are measured: every page, and lists with filters that many, few and no rows match. */
import type { Page, PageParts } from '../../src/pages/page.ts';
import { PAGES } from '../../src/pages/pages.ts';
import { markOf } from '../ledger/template.ts';

export interface Case {
  readonly page: Page;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly path: string;
}

const MONEY = ['', 'currency=USD', 'currency=EUR', 'min=5.00&max=5.00', 'from=2026-01-01'];
/** Frequent, rare and absent ones. */
const EVENTS = [
  'type=payment_succeeded',
  'type=dispute_opened',
  'type=nothing',
  'state=applied&type=refund_succeeded',
  'order=ORDER',
  'from=2020-01-01T00:00',
  'to=2020-01-01T00:00',
];
/** One with many steps. */
const REPLAY = '1';
const FLAGS = ['only=finding', 'only=uncertain'];

/** Filters by page; pages that are not named have none. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  '/orders': [...MONEY, ...FLAGS, 'status=paid', 'status=disputed', 'status=registered'],
  '/payments': [...MONEY, ...FLAGS, 'status=succeeded', 'status=failed', 'order=ORDER'],
  '/refunds': [...MONEY, ...FLAGS, 'status=succeeded', 'status=pending'],
  '/disputes': [...MONEY, ...FLAGS],
  '/payouts': [...MONEY, ...FLAGS, 'status=failed'],
  '/ledger': ['', 'at=2026-10-01T12:00', 'known=2026-10-01T12:00'],
  '/ledger/statements/{month}': ['', 'currency=USD&time_zone=Europe/Berlin'],
  '/ledger/journal': [
    ...MONEY,
    ...MONEY.map((filter) => `recorded=1&${filter}`),
    'account=order.due',
    'account=loss.disputes',
    'account=loss.disputes&recorded=1',
    'order=ORDER',
    'part=PAYMENT',
  ],
  '/ledger/accounts/{account}': [...MONEY, 'part=PAYMENT'],
  '/inbox': ['', 'state=dead', 'state=applied', ...EVENTS, `replay=${REPLAY}`],
  '/replays/new': ['', ...EVENTS],
  '/findings': ['', 'state=closed'],
  '/alerts': ['', 'state=any'],
  '/messages': ['', 'channel=log'],
  '/search': ['q=ORDER', 'q=PAYMENT', 'q=nothing'],
  '/authorizations/confirm': ['action=cancel&hold=1000:USD:HELD'],
};

export interface BenchLedger {
  /** How many copies of the template it has. */
  readonly copies: number;
  /** A month that is full of transfers, such as `2026-12`. */
  readonly month: string;
  /** A payout that can be paid again. */
  readonly failedPayout: string;
}

export function casesOf({ copies, month, failedPayout }: BenchLedger): {
  cases: readonly Case[];
  skipped: readonly string[];
} {
  const mark = markOf(Math.floor(copies / 2));
  const names: Readonly<Record<string, string>> = {
    order_id: `ord_${mark}_500`,
    payments: `pay_${mark}_500`,
    refunds: `ref_${mark}_750`,
    disputes: `dp_${mark}_999`,
    payouts: `po_${mark}_985`,
    account: 'refund.in_flight',
    event: '1000',
    alert_number: '1000',
    finding_number: '1000',
    message_number: '1000',
    run_number: '1000',
    replay_number: REPLAY,
    erasure_number: '1',
    // Of the viewer who measures.
    session_id: '1',
    month,
  };
  const filled = (text: string) =>
    text
      .replaceAll('ORDER', names.order_id ?? '')
      .replaceAll('PAYMENT', names.payments ?? '')
      .replaceAll('HELD', `pay_${mark}_900`);
  const cases: Case[] = [];
  const skipped: string[] = [];
  for (const page of PAGES) {
    const isRetry = page.path === '/payouts/{id}/retry';
    const params = paramsOf(page, isRetry ? { ...names, payouts: failedPayout } : names);
    // No sandbox runs here.
    const isOffered = page.isOffered?.({ sandbox: undefined } as PageParts) ?? true;
    if (!params || !isOffered) {
      skipped.push(page.path);
      continue;
    }
    for (const filter of FILTERS[page.path] ?? [''])
      cases.push(caseOf(page, params, filled(filter)));
  }
  return { cases, skipped };
}

function paramsOf(
  { path }: Page,
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const given = wanted.flatMap((name) => {
    // The pages of resources name their parameter alike.
    const value = names[name === 'id' ? (path.split('/')[1] ?? '') : name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return given.length < wanted.length ? undefined : Object.fromEntries(given);
}

function caseOf(page: Page, params: Readonly<Record<string, string>>, filter: string): Case {
  const path = page.path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  return {
    page,
    params,
    query: Object.fromEntries(new URLSearchParams(filter)),
    path: filter === '' ? path : `${path}?${filter}`,
  };
}
