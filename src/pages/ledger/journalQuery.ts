/** The filter of the journal's pages and files, as text of a form. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import { ACCOUNT_NAMES } from '../../ledger/domain/legs.ts';
import type { TransferQuery } from '../../ledger/read/transferList.ts';
import { numberPlace, readCursor } from '../../representation/cursor.ts';
import { pageFields, readListQuery } from '../lists/listQuery.ts';
import type { Problem } from '../page.ts';

const { only: _only, cursor, ...money } = pageFields;

/** Money and time; an account's page has no more. */
export const accountFields = { order: id.optional(), part: id.optional(), ...money };
export const journalFields = { account: z.enum(ACCOUNT_NAMES).optional(), ...accountFields };
export { cursor };

export type JournalQuery = {
  readonly [Name in keyof typeof journalFields]?: z.output<(typeof journalFields)[Name]>;
};

interface ReadJournal {
  readonly outcome: 'ok';
  readonly filter: TransferQuery;
  readonly after: number | undefined;
}

export function readJournalQuery({
  cursor: given,
  ...query
}: JournalQuery & { readonly cursor?: string | undefined }): ReadJournal | Problem {
  const place = readCursor(given, numberPlace);
  if (place.outcome !== 'read') return place;
  const { account, order, part, ...rest } = query;
  const read = readListQuery(rest);
  if (read.outcome !== 'ok') return read;
  const { currency, minMinor, maxMinor, fromMicros, toMicros } = read.filter;
  return {
    outcome: 'ok',
    after: place.place?.[0],
    filter: {
      account,
      orderId: order,
      resourceId: part,
      currency,
      minMinor,
      maxMinor,
      fromMicros,
      toMicros,
    },
  };
}
