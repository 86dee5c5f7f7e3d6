/** Entries of bank statements, their account and their sum (bankEntries.ts). */
import { describe, expect, test } from 'vitest';
import {
  type BankEntry,
  givenReference,
  lineOfEntry,
  refuseOtherAccount,
  refuseOtherSum,
  type StatementSums,
} from '../../../src/settlement/domain/bankEntries.ts';
import { problemOf } from '../../support/problemOf.ts';

const PLACE = { line: 4, column: 1 };
const ENTRY: BankEntry = {
  place: PLACE,
  sequence: 2,
  day: '2026-10-05',
  currency: 'EUR',
  amountMinor: 6825,
  bankReference: '2026100600001',
  purpose: 'ACME Payments ST-1',
  parties: ['ACME Payments Ltd', 'DE02120300000000202051'],
};

describe('rule 1: only an entry that names a payer becomes a line', () => {
  test.each([
    ['in its purpose', { purpose: 'From Acme Payments', parties: [] }],
    ['in another case, and broken elsewhere', { purpose: 'ac mepay\nments', parties: [] }],
    ['as one of its parties', { purpose: '', parties: ['Somebody', 'ACME PAYMENTS LTD'] }],
    ['by the account', { purpose: '', parties: ['GB33 BUKB 2020 1555 5555 55'] }],
  ])('which it may do %s', (_name, changed) => {
    const payers = ['ACME Payments', 'GB33BUKB20201555555555'];
    expect(lineOfEntry({ ...ENTRY, ...changed }, payers)).toMatchObject({ grossMinor: 6825 });
  });

  test('and any other is dropped', () => {
    expect(lineOfEntry({ ...ENTRY, purpose: 'Rent', parties: ['Landlord'] }, ['ACME'])).toBe(
      undefined,
    );
  });
});

describe('rule 2: of a line, neither the name nor the account of the payer is stored', () => {
  test('but what identifies it, and its text', () => {
    expect(lineOfEntry(ENTRY, ['ACME'])).toEqual({
      fileLine: 4,
      sequence: 2,
      type: 'bank',
      settlement: undefined,
      reference: undefined,
      lineReference: '2026100600001',
      day: '2026-10-05',
      currency: 'EUR',
      grossMinor: 6825,
      feeMinor: 0,
      text: 'ACME Payments ST-1',
    });
  });

  test.each([
    ['with one space for any white space', ' ST-1 \n  ST-2\t', 'ST-1 ST-2'],
    ['without mail addresses', 'ST-1 jane@example.com', 'ST-1 [email]'],
    ['unless it has none', ' \n ', undefined],
  ])('the text is stored %s', (_name, purpose, text) => {
    expect(lineOfEntry({ ...ENTRY, purpose }, ['ACME'])?.text).toBe(text);
  });
});

test('rule 2: what follows 560 characters of a text is not stored', () => {
  const purpose = `${'words '.repeat(94)}behind`;
  const text = lineOfEntry({ ...ENTRY, purpose }, ['ACME'])?.text;
  expect(text).toBe('words '.repeat(93).trim());
});

test('rule 2: a reference at the end of the longest field of MT940 is stored', () => {
  const purpose = `${'words '.repeat(64)}ST-1`;
  expect(lineOfEntry({ ...ENTRY, purpose }, ['ACME'])?.text).toMatch(/ ST-1$/);
});

describe('rule 2: what could be a card number is stored as a checksum of four digits', () => {
  test.each([
    ['in one word', 'PAYOUT 4242424242424242', 'PAYOUT [digits 1218]'],
    ['in groups', 'PAYOUT 4242 4242-4242 4242.', 'PAYOUT [digits 1218].'],
    ['beside short numbers', 'PAYOUT 05 4242424242424242', 'PAYOUT [digits 1218]'],
    ['beside another', 'PAYOUT 4242424242424242 2026100510000015', 'PAYOUT [digits 1218, 7416]'],
    ['unless its check digit is wrong', 'PAYOUT 4242424242424241', 'PAYOUT 4242424242424241'],
  ])('%s', (_name, purpose, text) => {
    expect(lineOfEntry({ ...ENTRY, purpose }, ['ACME'])?.text).toBe(text);
  });
});

describe('a reference', () => {
  test.each(['NONREF', 'NOTPROVIDED', 'NONE', 'nonref', ' NONREF ', '', ' ', undefined])(
    'that a bank fills in for none is none: %s',
    (text) => {
      expect(givenReference(text)).toBe(undefined);
    },
  );

  test.each([
    ['without spaces around it', ' 2026-1 ', '2026-1'],
    ['up to 200 characters', 'x'.repeat(201), 'x'.repeat(200)],
  ])('is read %s', (_name, text, reference) => {
    expect(givenReference(text)).toBe(reference);
  });
});

describe('rule 3: a statement belongs to the account of its source file', () => {
  const refuse = (stated: string, account: string) =>
    problemOf(() => refuseOtherAccount(stated, account, PLACE));

  test.each([
    ['DE02 1203 0000 0000 2020 51', 'DE02120300000000202051'],
    ['de02120300000000202051', 'DE02120300000000202051'],
    ['12030000/202051', '12030000/202051'],
    ['12030000/202051EUR', '12030000/202051'],
    ['12030000/0000202051', '202051'],
    ['BANKDEFF/202051', '202051'],
    ['202051/00', '202051'],
    ['0000202051', '202051'],
    ['2020510/202051', '202051'],
    ['DE02120300001234202051', '1234202051'],
    ['GB29NWBK60161331926819', '31926819'],
  ])('%s is the account %s', (stated, account) => {
    expect(refuse(stated, account)).toBe('it was read');
  });

  test.each([
    ['that only begins with it', '12030000/2020519', '202051'],
    ['that only ends with it', '12030000/1202051', '202051'],
    ['that only ends with it, behind a zero', '12030000/10202051', '202051'],
    ['that only ends with it, behind the code of a bank', 'BANKDE12/1202051', '202051'],
    ['without it', '12030000/202052', '202051'],
    ['that is empty', '', '202051'],
  ])('a number %s is another account', (_name, stated, account) => {
    expect(refuse(stated, account)).toMatch(/^line 4, column 1: the statement is of the account "/);
  });

  test.each([
    ['12030000/202052', '…2052'],
    ['12345', '…2345'],
    ['1234', '1234'],
    ['abc 9de', '…C9DE'],
    ['', ''],
  ])('of the account %s, the last four characters are stated', (stated, shown) => {
    expect(refuse(stated, '12030000/202051')).toBe(
      `line 4, column 1: the statement is of the account "${shown}", and the source file names "…2051"`,
    );
  });
});

describe('rule 3: entries lead from the opening to the closing balance', () => {
  const sums: StatementSums = {
    currency: 'EUR',
    openingMinor: 100_000,
    entriesMinor: -43_175n,
    closingMinor: 56_825,
  };

  test.each([
    ['which they do', {}, 'it was read'],
    ['and not to less', { closingMinor: 56_725 }, '-1.00 EUR'],
    ['and not to more', { closingMinor: 56_925 }, '1.00 EUR'],
    ['from none other', { openingMinor: 99_999 }, '0.01 EUR'],
    ['with every one', { entriesMinor: 0n }, '-431.75 EUR'],
  ])('%s', (_name, changed, missing) => {
    const problem =
      `line 4, column 1: the entries do not lead to the closing balance: ${missing} is missing. ` +
      'The file was cut or changed. Download it again';
    expect(problemOf(() => refuseOtherSum({ ...sums, ...changed }, PLACE))).toBe(
      missing === 'it was read' ? missing : problem,
    );
  });
});
