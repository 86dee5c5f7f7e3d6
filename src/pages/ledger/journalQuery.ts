/** The filter of the journal's pages and files, as text of a form. */
import { z } from 'zod';
import { id } from '../../console/schemas.ts';
import { timeBasis } from '../../ledger/domain/effectiveTimes.ts';
import { ACCOUNT_NAMES } from '../../ledger/domain/legs.ts';
import type { TransferPlace, TransferQuery } from '../../ledger/read/transferList.ts';
import { readCursor } from '../../representation/cursor.ts';
import { transferPlaces } from '../../representation/transfer.ts';
import { pageFields, readListQuery } from '../lists/listQuery.ts';
import type { Problem } from '../page.ts';

const { only: _only, cursor, ...money } = pageFields;

/** Money and time; an account's page has no more. */
export const accountFields = {
  order: id.optional(),
  part: id.optional(),
  ...money,
  recorded: z.literal('1').optional(),
};
export const journalFields = { account: z.enum(ACCOUNT_NAMES).optional(), ...accountFields };
export { cursor };

export type JournalQuery = {
  readonly [Name in keyof typeof journalFields]?: z.output<(typeof journalFields)[Name]>;
};

export interface ReadJournal {
  readonly outcome: 'ok';
  readonly filter: TransferQuery;
  readonly after: TransferPlace | undefined;
}

export function readJournalQuery({
  cursor: given,
  ...query
}: JournalQuery & { readonly cursor?: string | undefined }): ReadJournal | Problem {
  const { account, order, part, recorded, ...rest } = query;
  const basis = timeBasis({ isRecorded: recorded !== undefined });
  const place = readCursor(given, transferPlaces[basis]);
  if (place.outcome !== 'read') return place;
  const read = readListQuery(rest);
  if (read.outcome !== 'ok') return read;
  const { currency, minMinor, maxMinor, fromMicros, toMicros } = read.filter;
  return {
    outcome: 'ok',
    after: place.place,
    filter: {
      basis,
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
