/** The statement of a month, for the screen and for paper, and as a file. */
import { z } from 'zod';
import { currency, month, timeZone } from '../../console/schemas.ts';
import { monthAfter } from '../../ledger/domain/period.ts';
import { unlessUndated } from '../../ledger/read/undated.ts';
import { statementCsv } from '../../representation/statement.ts';
import { statementText } from '../../representation/statementTables.ts';
import { readStatement } from '../../statements/readStatement.ts';
import { Field, FilterForm } from '../components/forms.tsx';
import { defineTextDownload, sendRecorded } from '../download.ts';
import {
  closingHref,
  entriesFileHref,
  ledgerHref,
  statementCsvHref,
  statementHref,
} from '../links.ts';
import { definePage } from '../page.ts';
import { StatementTables } from './StatementTables.tsx';

const PROGRAMS = [
  ['csv', 'CSV'],
  ['hledger', 'hledger'],
  ['beancount', 'beancount'],
] as const;

const filter = { currency: currency.optional(), time_zone: timeZone.optional() };

export const statementPage = definePage({
  path: '/ledger/statements/{month}',
  permission: 'read',
  params: z.strictObject({ month }),
  query: z.strictObject(filter),
  load: async ({ db }, { params, query }) => {
    const request = { ...params, timeZone: query.time_zone, currency: query.currency };
    const read = await unlessUndated(() => readStatement(db, request));
    if (read.outcome !== 'ok') return read;
    const { period, knownMicros, booking } = read.data;
    const isOver = knownMicros >= period.toMicros;
    const isClosed = booking.kind === 'booked' && booking.closing !== undefined;
    const { month: of, timeZone: zone } = period;
    const shown = { month: of, timeZone: zone, currency: query.currency };
    return {
      outcome: 'ok',
      data: { request: shown, isOver, isClosed, text: statementText(read.data) },
    };
  },
  view: ({ request, isOver, isClosed, text }) => {
    const query = { currency: request.currency, time_zone: request.timeZone };
    return {
      title: text.title,
      crumbs: [{ label: 'Ledger', href: ledgerHref() }],
      body: (
        <>
          <FilterForm action={statementHref(request.month)} label="Show">
            <Field name="time_zone" label="Time zone" value={request.timeZone} />
            <Field name="currency" label="Currency" value={request.currency} />
          </FilterForm>
          <p class="choices">
            <a href={statementHref(monthAfter(request.month, -1), query)}>The month before</a>{' '}
            {isOver && (
              <a href={statementHref(monthAfter(request.month, 1), query)}>The month after</a>
            )}{' '}
            {isOver && (
              <a href={closingHref(request.month, { time_zone: request.timeZone })}>
                {isClosed ? 'Its closing' : 'Close this month'}
              </a>
            )}{' '}
            <a href={statementCsvHref({ ...query, month: request.month })}>CSV</a>
          </p>
          <p>
            Entries of each day for a general ledger:
            {PROGRAMS.map(([format, label]) => (
              <>
                {' '}
                <a href={entriesFileHref(format, { ...query, month: request.month })}>{label}</a>
              </>
            ))}
          </p>
          <StatementTables {...text} />
        </>
      ),
    };
  },
});

export const statementFile = defineTextDownload({
  path: '/ledger/statement.csv',
  permission: 'read',
  query: z.strictObject({ ...filter, month }),
  fileName: 'statement.csv',
  type: 'text/csv',
  open: async ({ db }, { query, actor }) => {
    const { month: of, time_zone: timeZone, currency: only } = query;
    const request = { month: of, timeZone, currency: only };
    const read = await unlessUndated(() => readStatement(db, request));
    if (read.outcome !== 'ok') return read;
    const text = statementCsv(read.data);
    const exported = { path: '/ledger/statement.csv', actor, filter: query };
    return { outcome: 'ok', send: (to) => sendRecorded({ db }, exported, [text], to) };
  },
});
