/** Statements in MT940 (mt940.ts). */
import { describe, expect, test } from 'vitest';
import { createMt940Reader } from '../../../src/settlement/domain/mt940.ts';
import { problemOf } from '../../support/problemOf.ts';

const ACCOUNT = '12030000/202051';

function read(lines: readonly string[]) {
  const reader = createMt940Reader(ACCOUNT);
  return [...reader.push(`${lines.join('\n')}\n`), ...reader.end()];
}
const problem = (lines: readonly string[]) => problemOf(() => read(lines));

const OPENING = [':20:STATEMENT', `:25:${ACCOUNT}`, ':28C:5/1', ':60F:C261005EUR100,00'];
/** A statement with a credit of 68.25 EUR, and lines that belong to it. */
const credited = (...lines: readonly string[]) => [
  ...OPENING,
  ':61:2610061006C68,25NTRFNONREF//REF-1',
  ...lines,
  ':62F:C261006EUR168,25',
  '-',
];
const statementOf = (entry: string, closing: string) => [...OPENING, entry, `:62F:${closing}`];
const EMPTY = [...OPENING, ':62F:C261006EUR100,00', '-'];

describe('an entry', () => {
  test('has its place, its day, its amount, the reference of the bank and what was written', () => {
    const lines = credited('Fixed term', ':86:166?00CREDIT?20SVWZ+?21ST-1?31DE02?32ACME');
    expect(read(lines)).toEqual([
      {
        place: { line: 5, column: 1 },
        sequence: 1,
        day: '2026-10-06',
        currency: 'EUR',
        amountMinor: 6825,
        bankReference: 'REF-1',
        purpose: 'NONREF Fixed term SVWZ+ST-1',
        parties: ['ACME', 'DE02'],
      },
    ]);
  });

  test.each([
    ['C', 'C261006EUR168,25', 6825],
    ['RD', 'C261006EUR168,25', 6825],
    ['D', 'C261006EUR31,75', -6825],
    ['RC', 'C261006EUR31,75', -6825],
  ])('rule 2: with the mark %s comes to %s', (mark, closing, amountMinor) => {
    const lines = statementOf(`:61:2610061006${mark}68,25NTRFNONREF`, closing);
    expect(read(lines)).toMatchObject([{ amountMinor }]);
  });

  test('rule 2: with a funds code is read as one without', () => {
    const lines = statementOf(':61:2610061006CR68,25NTRFNONREF', 'C261006EUR168,25');
    expect(read(lines)).toMatchObject([{ amountMinor: 6825, day: '2026-10-06' }]);
  });

  test.each([
    ['of its value date where it has no other', '261006', '2026-10-06'],
    ['of its booking', '2610061008', '2026-10-08'],
    ['of the next year in January', '2612310102', '2027-01-02'],
    ['of the year before in December', '2701021231', '2026-12-31'],
    ['a leap day', '2803010229', '2028-02-29'],
  ])('rule 3: its day is %s', (_name, dates, day) => {
    const lines = statementOf(`:61:${dates}C68,25NTRFNONREF`, 'C261006EUR168,25');
    expect(read(lines)).toMatchObject([{ day }]);
  });

  test('without :86: is read at the next tag, as the one before it', () => {
    const lines = [
      ...OPENING,
      ':61:2610061006C1,00NTRFA//1',
      ':61:2610061006C2,00NTRFB//2',
      ':62F:C261006EUR103,00',
    ];
    expect(read(lines)).toMatchObject([
      { purpose: 'A', bankReference: '1', parties: [] },
      { purpose: 'B', bankReference: '2', parties: [] },
    ]);
  });

  test.each([
    ['in another form', '2610061006X68,25NTRFNONREF'],
    ['with text before it', 'X2610061006C68,25NTRFNONREF'],
    ['without a type', '2610061006C68,25'],
  ])('%s is refused with its place', (_name, entry) => {
    expect(problem(statementOf(`:61:${entry}`, 'C261006EUR168,25'))).toBe(
      `line 5, column 1: "${entry}" is not an entry such as 2610051005C950,00NTRFREF//BANKREF`,
    );
  });

  test.each([
    ['a value date that does not exist', '2613061006C68,25NTRFNONREF'],
    ['only a value date that does not exist', '261306C68,25NTRFNONREF'],
    ['a booking date that never exists', '2610060230C68,25NTRFNONREF'],
    ['too many decimals', '2610061006C68,2501NTRFNONREF'],
  ])('with %s is refused with its place', (_name, entry) => {
    expect(problem(statementOf(`:61:${entry}`, 'C261006EUR168,25'))).toBe(
      `line 5, column 1: "${entry}" has a day that does not exist, or no amount of EUR`,
    );
  });
});

describe('rule 4: of :86:', () => {
  test('the subfields 20 to 29 and 60 to 63 are what was written, 31 to 33 the other side', () => {
    const subfields = [
      '00',
      '10',
      '19',
      '20',
      '29',
      '30',
      '31',
      '32',
      '33',
      '34',
      '59',
      '60',
      '61',
      '62',
      '63',
      '64',
    ];
    const text = subfields.map((number) => `?${number}<${number}>`).join('');
    expect(read(credited(`:86:166${text}`))).toMatchObject([
      { purpose: 'NONREF <20><29><60><61><62><63>', parties: ['<32><33>', '<31>'] },
    ]);
  });

  test('a line may end within a subfield', () => {
    expect(read(credited(':86:166?20ST-', '2026?32AC', 'ME'))).toMatchObject([
      { purpose: 'NONREF ST-2026', parties: ['ACME'] },
    ]);
  });

  test.each([
    ['of words', ['ACME ST-1', 'of October'], 'ACME ST-1 of October'],
    ['with the form of subfields within', ['Order 123?20ST-1'], 'Order 123?20ST-1'],
    ['with a line that begins with a hyphen', ['Orders', '-7 to 9'], 'Orders -7 to 9'],
    ['with a line that has a tag within', ['Orders', 'of :20:A'], 'Orders of :20:A'],
  ])('a text %s is what was written', (_name, [first, ...more], purpose) => {
    expect(read(credited(`:86:${first}`, ...more))).toMatchObject([
      { purpose: `NONREF ${purpose}`, parties: [] },
    ]);
  });

  test('a text after the closing balance is about no entry', () => {
    expect(read([...credited().slice(0, -1), ':86:About the statement', '-'])).toMatchObject([
      { purpose: 'NONREF' },
    ]);
  });

  test('60 lines are read, and more refused at the first beyond', () => {
    const most = Array.from({ length: 59 }, () => 'x');
    expect(read(credited(':86:x', ...most))).toHaveLength(1);
    expect(problem(credited(':86:x', ...most, 'x'))).toBe(
      'line 66, column 1: a field has more than 60 lines',
    );
  });
});

describe('rule 1: a tag', () => {
  test.each(['21', '28', '28C', '13D', '34F', '64', '65', '90C', '90D', 'NS'])(
    ':%s: is part of the format, and passed over',
    (tag) => {
      expect(read([...OPENING, `:${tag}:x`, ...credited().slice(4)])).toMatchObject([
        { amountMinor: 6825 },
      ]);
    },
  );

  test.each([
    [':60M:', ':62M:', ':25:'],
    [':60F:', ':62F:', ':25P:'],
  ])('%s, %s and %s are read as well', (opening, closing, accountTag) => {
    const lines = credited().map((line) =>
      line.replace(':60F:', opening).replace(':62F:', closing).replace(':25:', accountTag),
    );
    expect(read(lines)).toMatchObject([{ amountMinor: 6825 }]);
  });

  test.each([
    [
      'that the format does not have',
      [':20:A', ':99X:B'],
      'line 2, column 1: MT940 has no tag :99X:',
    ],
    [
      'that the line before it should be',
      ['Statement', ':20:A'],
      'line 1, column 1: "Statement" does not begin with a tag such as :20:',
    ],
    [
      'that a line after the statement should be',
      [...EMPTY, 'Page 1'],
      'line 7, column 1: "Page 1" does not begin with a tag such as :20:',
    ],
    [
      'of an opening balance without an account',
      [':20:A', ':60F:C261005EUR100,00'],
      'line 2, column 1: a statement has no account (:25:)',
    ],
    [
      'of a second opening balance',
      [...OPENING, ':60F:C261005EUR100,00'],
      'line 5, column 1: a statement has no closing balance (:62F:)',
    ],
    [
      'of an entry before the opening balance',
      [':20:A', `:25:${ACCOUNT}`, ':61:2610061006C68,25NTRFNONREF'],
      'line 3, column 1: an entry precedes the opening balance (:60F:)',
    ],
    [
      'of a closing balance without an opening balance',
      [':20:A', `:25:${ACCOUNT}`, ':62F:C261006EUR100,00'],
      'line 3, column 1: a closing balance has no opening balance',
    ],
    [
      'of a second statement without its account',
      [...EMPTY, ':20:B', ':60F:C261006EUR100,00'],
      'line 8, column 1: a statement has no account (:25:)',
    ],
  ])('%s is refused with its place', (_name, lines, expected) => {
    expect(problem(lines)).toBe(expected);
  });
});

describe('rule 1: a file that was cut is refused', () => {
  const cut = 'the file ends without a closing balance (:62F:): it was cut. Download it again';
  test.each([
    ['within its statement', OPENING, `line 4, column 1: ${cut}`],
    ['after its account', OPENING.slice(0, 2), `line 2, column 1: ${cut}`],
    ['after an account without :20:', OPENING.slice(1, 2), `line 1, column 1: ${cut}`],
    [
      'after the account of its second statement',
      [...EMPTY, ...OPENING.slice(0, 2)],
      `line 8, column 1: ${cut}`,
    ],
    [
      'after the first tag of its second statement',
      [...EMPTY, ':20:B'],
      `line 7, column 1: ${cut}`,
    ],
    ['before its first tag', ['{1:F01BANKDEFF}{4:'], 'line 1, column 1: the file has no statement'],
  ])('%s', (_name, lines, expected) => {
    expect(problem(lines)).toBe(expected);
  });

  test('so is an empty one', () => {
    expect(problemOf(() => createMt940Reader(ACCOUNT).end())).toBe(
      'line 1, column 1: the file has no statement',
    );
  });

  test('and one without what the last line of a tag has', () => {
    const reader = createMt940Reader(ACCOUNT);
    reader.push([...OPENING, ':62F:C26'].join('\n'));
    expect(problemOf(reader.end)).toBe(
      'line 5, column 1: "C26" is not a balance such as C261005EUR950,00',
    );
  });
});

describe('rule 5: a page', () => {
  const START = [':20:STATEMENT', `:25:${ACCOUNT}`, ':28C:5/1'];
  /** A page with a credit of 10.00 EUR, unless its balances are equal. */
  const page = (opening: string, closing: string) => [
    ...START,
    opening,
    ...(opening.slice(5) === closing.slice(5) ? [] : [':61:2610061006C10,00NTRFNONREF']),
    closing,
    '-',
  ];
  const first = page(':60F:C261005EUR100,00', ':62M:C261006EUR110,00');
  const last = page(':60M:C261006EUR110,00', ':62F:C261006EUR120,00');

  test.each([
    ['all pages of a statement', [...first, ...last], 2, false],
    ['a statement of one page', EMPTY, 0, false],
    ['the first page', first, 1, true],
    ['the last page', last, 1, false],
    ['a page between', page(':60M:C261005EUR1,00', ':62M:C261006EUR11,00'), 1, true],
    ['the last page, and the first of the next statement', [...last, ...first], 2, true],
  ])('is read, and whether another one follows: %s', (_what, lines, count, isContinued) => {
    const reader = createMt940Reader(ACCOUNT);
    const entries = [...reader.push(`${lines.join('\n')}\n`), ...reader.end()];
    expect([entries.length, reader.isContinued()]).toEqual([count, isContinued]);
  });

  test('may be followed by a statement that begins with its balance', () => {
    expect(
      read([...first, ...page(':60F:C261006EUR110,00', ':62F:C261006EUR120,00')]),
    ).toHaveLength(2);
  });

  test.each([
    [':60M:C261006EUR120,00', '120.00 EUR'],
    [':60F:C261006EUR120,00', '120.00 EUR'],
    [':60M:D261006EUR110,00', '-110.00 EUR'],
    [':60M:C261006USD110,00', '110.00 USD'],
  ])(
    'that begins with another balance than the one before it ends with is refused: %s',
    (opening, stated) => {
      expect(problem([...first, ...START, opening])).toBe(
        `line 11, column 1: the page before this one ends with 110.00 EUR, and this one begins with ${stated}: ` +
          'a page between them is missing. Download the file again',
      );
    },
  );
});

describe('a balance', () => {
  test('may be a debit, and have spaces behind it', () => {
    const lines = credited().map((line) =>
      line
        .replace('C261005EUR100,00', 'D261005EUR100,00 ')
        .replace('C261006EUR168,25', 'D261006EUR31,75'),
    );
    expect(read(lines)).toMatchObject([{ amountMinor: 6825 }]);
  });

  test.each([
    ['with text before it', 'XC261005EUR100,00'],
    ['with text behind it', 'C261005EUR100,00X'],
    ['with too many decimals', 'C261005EUR1,001'],
    ['without a currency', 'C261005100,00'],
  ])('%s is refused with its place', (_name, balance) => {
    expect(problem([...OPENING.slice(0, 3), `:60F:${balance}`])).toBe(
      `line 4, column 1: "${balance}" is not a balance such as C261005EUR950,00`,
    );
  });

  test('in another currency than the opening one is refused', () => {
    expect(problem([...OPENING, ':62F:C261006USD100,00'])).toBe(
      'line 5, column 1: the statement begins in EUR and ends in USD',
    );
  });

  test('to which the entries do not lead is refused', () => {
    expect(problem([...OPENING, ':62F:C261006EUR100,01'])).toContain('0.01 EUR is missing');
  });
});

describe('lines', () => {
  test.each([
    ['with line feeds', '\n'],
    ['with carriage returns and line feeds', '\r\n'],
  ])('may end %s, which may be read in parts', (_name, end) => {
    const reader = createMt940Reader(ACCOUNT);
    const content = credited(':86:ACME', 'ST-1').join(end) + end;
    const entries = [...content].flatMap(reader.push);
    expect([...entries, ...reader.end()]).toMatchObject([{ purpose: 'NONREF ACME ST-1' }]);
  });

  test('need not end at the end of the file', () => {
    const reader = createMt940Reader(ACCOUNT);
    expect(reader.push(credited().slice(0, -1).join('\n'))).toHaveLength(0);
    expect(reader.end()).toMatchObject([{ amountMinor: 6825 }]);
  });

  test('between statements may be empty, or the blocks of SWIFT around them', () => {
    const lines = [
      '{1:F01BANKDEFF}{2:O940}{4:',
      ...credited().slice(0, -1),
      '-}',
      '',
      '-}{5:{CHK:1}}',
      '{1:F01BANKDEFF}{4:',
      ...EMPTY,
      ' ',
      '-',
    ];
    expect(read(lines)).toMatchObject([{ amountMinor: 6825, place: { line: 6 } }]);
  });

  test.each([
    ['that ends', '\n'],
    ['that does not end yet', ''],
    ['that ends half in this piece', '\r'],
  ])('of 1,000 characters are read, and a longer one %s refused', (_name, end) => {
    const pushed = (length: number) => {
      const reader = createMt940Reader(ACCOUNT);
      reader.push(':20:A\n:21:');
      reader.push(`B\n:28C:${'x'.repeat(length - ':28C:'.length)}${end}`);
    };
    expect(problemOf(() => pushed(1_000))).toBe('it was read');
    expect(problemOf(() => pushed(1_001))).toBe(
      'line 3, column 1: a line has more than 1000 characters',
    );
  });
});
