/**
 * The source file: a small JSON file of the merchant that declares how the files of one source are read. Its
 * name scopes what counts as the same line, so each report and each account has one.
 */
import { z } from 'zod';
import { REPORT_LINE_TYPES } from '../ledger/domain/lines.ts';
import { DAY_FORMATS } from './domain/days.ts';

/** Such as `acme-reports`. */
const name = z
  .string('must be a text')
  .regex(
    /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/,
    'must be 1 to 40 lower-case letters, digits and hyphens',
  );

const encoding = z
  .enum(['utf-8', 'utf-16le', 'windows-1252', 'iso-8859-15'], {
    error: 'must be utf-8, utf-16le, windows-1252 or iso-8859-15',
  })
  .default('utf-8');

const columnName = z
  .string('must be the name of a column')
  .min(1, 'must be the name of a column')
  .max(200);

const report = z.strictObject({
  name,
  format: z.literal('csv'),
  encoding,
  delimiter: z.enum([',', ';', '\t', '|'], { error: 'must be , ; | or a tab' }).default(','),
  decimal: z.enum(['.', ','], { error: 'must be . or ,' }).default('.'),
  days: z.enum(DAY_FORMATS, { error: `must be one of ${DAY_FORMATS.join(', ')}` }).default('iso'),
  last_line_ends: z.boolean('must be true or false').default(true),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency such as EUR')
    .optional(),
  gross: z.enum(['signed', 'by_type'], { error: 'must be signed or by_type' }).default('signed'),
  fee: z
    .enum(['positive', 'negative'], { error: 'must be positive or negative' })
    .default('positive'),
  columns: z.strictObject({
    settlement: columnName,
    type: columnName,
    day: columnName,
    gross: columnName,
    reference: columnName.optional(),
    line: columnName.optional(),
    currency: columnName.optional(),
    fee: columnName.optional(),
    net: columnName.optional(),
  }),
  types: z
    .record(
      z.string(),
      z.enum([...REPORT_LINE_TYPES, 'ignore'], {
        error: `must be one of ${REPORT_LINE_TYPES.join(', ')}, ignore`,
      }),
    )
    .refine((types) => Object.keys(types).length > 0, 'must translate at least one type'),
});

const bank = z.strictObject({
  name,
  format: z.enum(['camt.053', 'mt940']),
  encoding,
  account: z
    .string('must be the IBAN or number of your account')
    .min(4, 'must be the IBAN or number of your account')
    .max(50),
  payers: z
    .array(
      z
        .string()
        .trim()
        .min(4, 'must have at least 4 characters, so that it recognizes nobody else')
        .max(200),
    )
    .min(1, 'must name the service: its name or IBAN, as your bank writes it'),
});

const source = z.discriminatedUnion('format', [report, bank], {
  error: '"format" must be csv, camt.053 or mt940',
});
export type Source = z.infer<typeof source>;
export type ReportSource = z.infer<typeof report>;

export type ReadSource =
  | { readonly outcome: 'read'; readonly source: Source }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

export function parseSource(content: string): ReadSource {
  let given: unknown;
  try {
    given = JSON.parse(content);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { outcome: 'refused', problems: [`It is not JSON: ${message}.`] };
  }
  const read = source.safeParse(given);
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => {
      const place = path.length === 0 ? 'The file' : path.join('.');
      return `${place}: ${message}.`;
    });
    return { outcome: 'refused', problems };
  }
  const { data } = read;
  const hasNoCurrency =
    data.format === 'csv' &&
    (data.currency === undefined) === (data.columns.currency === undefined);
  return hasNoCurrency
    ? {
        outcome: 'refused',
        problems: [
          'currency: give either the currency of every row, or the column that has it (columns.currency).',
        ],
      }
    : { outcome: 'read', source: data };
}
