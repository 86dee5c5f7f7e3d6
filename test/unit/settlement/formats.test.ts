/**
 * Reading files: what is generated is read back, a file that was cut or damaged is refused with its place, and
 * nothing of strangers becomes a line. Tests cite the rules at the heads of the files in settlement/domain/.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAmount } from '../../../src/contract/money.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { parseSignedAmount } from '../../../src/settlement/domain/amounts.ts';
import { createCsvReader } from '../../../src/settlement/domain/csvRows.ts';
import { parseDay } from '../../../src/settlement/domain/days.ts';
import { FileProblem } from '../../../src/settlement/domain/fileProblem.ts';
import { readLines } from '../../../src/settlement/readLines.ts';
import { parseSource, type Source } from '../../../src/settlement/sourceFile.ts';

const EXAMPLES = join(packageRoot(), 'docs/examples/settlement');
const example = (name: string) => readFileSync(join(EXAMPLES, name));

function sourceOf(name: string, changed: object = {}): Source {
  const content = { ...(JSON.parse(example(name).toString('utf8')) as object), ...changed };
  const read = parseSource(JSON.stringify(content));
  if (read.outcome !== 'read') throw new Error(read.problems.join(' '));
  return read.source;
}

const REPORT = sourceOf('report-source.json');
const CAMT = sourceOf('bank-camt-source.json');
const MT940 = sourceOf('bank-mt940-source.json');

/** @param size bytes of a piece */
async function linesOf(content: Uint8Array, source: Source, size = 64 * 1024) {
  async function* pieces() {
    for (let start = 0; start < content.length; start += size) {
      yield await Promise.resolve(content.subarray(start, start + size));
    }
  }
  const lines = [];
  let ignored = 0;
  for await (const piece of readLines(pieces(), source, () => undefined)) {
    lines.push(...piece.lines);
    ignored += piece.ignored;
  }
  return { lines, ignored };
}

/** The lines of a camt.053 statement, and whether it is continued in another file. */
async function readWhole(content: string) {
  let isContinued: boolean | undefined;
  const lines = [];
  let ignored = 0;
  const pieces = async function* () {
    yield await Promise.resolve(Buffer.from(content));
  };
  const onEnd = (end: { readonly isContinued: boolean }) => ({ isContinued } = end);
  for await (const piece of readLines(pieces(), CAMT, onEnd)) {
    lines.push(...piece.lines);
    ignored += piece.ignored;
  }
  return { lines, ignored, isContinued };
}

const refusalOf = (content: string | Uint8Array, source: Source) =>
  linesOf(typeof content === 'string' ? Buffer.from(content) : content, source).then(
    () => 'it was read',
    (error: unknown) => (error instanceof FileProblem ? error.message : String(error)),
  );

describe('the examples of the documentation', () => {
  test('a report has a line for each row that its source file does not ignore', async () => {
    const { lines, ignored } = await linesOf(example('report.csv'), REPORT);
    expect(ignored).toBe(1);
    expect(
      lines.map(({ type, reference, grossMinor, feeMinor }) => [
        type,
        reference,
        grossMinor,
        feeMinor,
      ]),
    ).toEqual([
      ['payment', 'pay_1001', 6540, 130],
      ['payment', 'pay_1002', 2000, 55],
      ['refund', 'ref_2001', -540, 0],
      ['fee', undefined, 0, 990],
    ]);
  });

  test.each([
    ['camt.053', 'statement.xml', CAMT],
    ['MT940', 'statement.mt940', MT940],
  ])(
    'of a statement in %s, only the line of the service is read, without its name',
    async (_name, file, source) => {
      const { lines, ignored } = await linesOf(example(file), source);
      expect(ignored).toBe(1);
      expect(lines).toMatchObject([
        {
          type: 'bank',
          day: '2026-10-06',
          currency: 'EUR',
          grossMinor: 6825,
          lineReference: '2026100600001',
        },
      ]);
      expect(lines[0]?.text).toContain('ST-2026-10-05');
      expect(JSON.stringify(lines)).not.toMatch(/ACME|Landlord|Rent/);
    },
  );

  test.each([
    ['report.csv', REPORT],
    ['statement.xml', CAMT],
    ['statement.mt940', MT940],
  ])('%s is read the same in pieces of any size', async (file, source) => {
    const whole = await linesOf(example(file), source);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (size) => {
        expect(await linesOf(example(file), source, size)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test.each([
    ['statement.xml', CAMT],
    ['statement.mt940', MT940],
    ['report.csv', REPORT],
  ])('%s is refused with a place wherever it is cut', async (file, source) => {
    const content = example(file);
    const end = content.toString('latin1').trimEnd().length;
    for (let length = 1; length < end; length += 7) {
      const cut = content.subarray(0, length);
      // A report that ends with one of its lines has no sum by which the rest would be missed.
      if (file === 'report.csv' && cut.at(-1) === 10) continue;
      // The end of an MT940 message is a line of one hyphen, which nothing depends on.
      if (file === 'statement.mt940' && length >= content.indexOf(':62F:C261006EUR568,25') + 21)
        continue;
      expect(await refusalOf(cut, source), `cut after ${length} bytes`).toMatch(
        /^line \d+, column \d+: /,
      );
    }
  });
});

describe('amounts', () => {
  const currencies = fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF');
  const marks = fc.constantFrom('.' as const, ',' as const);

  test('every amount of every exponent is read back, with either mark, sign and thousands', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        currencies,
        marks,
        fc.boolean(),
        (amountMinor, currency, mark, grouped) => {
          const [whole = '', decimals] = formatAmount(Math.abs(amountMinor), currency).split('.');
          const other = mark === '.' ? ',' : '.';
          const shown = grouped ? whole.replaceAll(/\B(?=(\d{3})+$)/g, other) : whole;
          const text = `${amountMinor < 0 ? '-' : ''}${shown}${decimals === undefined ? '' : `${mark}${decimals}`}`;
          expect(parseSignedAmount(text, mark, currency)).toBe(amountMinor);
        },
      ),
    );
  });

  test.each([
    ['1,234', '.', 'EUR', 123_400],
    ['1.234', '.', 'EUR', undefined],
    ['1.234', ',', 'EUR', 123_400],
    ['1,23', ',', 'EUR', 123],
    ['12,34.5', '.', 'EUR', undefined],
    ['1000.00', '.', 'JPY', 1000],
    ['1000.000', '.', 'JPY', undefined],
    ['5,00-', ',', 'EUR', -500],
    ['-5-', '.', 'EUR', undefined],
    ['(5)', '.', 'EUR', undefined],
    ['1e3', '.', 'EUR', undefined],
    ['', '.', 'EUR', undefined],
  ] as const)('%s with the mark %s in %s is %s', (text, mark, currency, amountMinor) => {
    expect(parseSignedAmount(text, mark, currency)).toBe(amountMinor);
  });
});

test.each([
  ['2026-10-05T23:59:59+02:00', 'iso', '2026-10-05'],
  ['5.10.2026', 'DD.MM.YYYY', '2026-10-05'],
  ['10/05/2026 08:00', 'MM/DD/YYYY', '2026-10-05'],
  ['20261005', 'YYYYMMDD', '2026-10-05'],
  ['2026-02-30', 'iso', undefined],
  ['31/04/2026', 'DD/MM/YYYY', undefined],
] as const)('the day %s written as %s is %s', (text, format, day) => {
  expect(parseDay(text, format)).toBe(day);
});

describe('CSV', () => {
  test('any fields are read back', () => {
    const field = fc.string({ maxLength: 20 }).map((text) => text.replaceAll(/[\p{Cc}]/gu, '\n'));
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 9 }), (written, size) => {
        const text = written
          .map((row) => `${row.map((one) => `"${one.replaceAll('"', '""')}"`).join(';')}\r\n`)
          .join('');
        const reader = createCsvReader({ delimiter: ';', lastLineEnds: true });
        const read = [];
        for (let start = 0; start < text.length; start += size) {
          read.push(...reader.push(text.slice(start, start + size)));
        }
        read.push(...reader.end());
        expect(read.map((row) => row.map((one) => one.text))).toEqual(written);
      }),
    );
  });

  test.each([
    ['a quote within a field', 'x,a"b\n', 'line 1, column 4'],
    ['text after a closing quote', 'x\n"a"b\n', 'line 2, column 4'],
    ['quotes that never end', 'x,"a\nb\n', 'line 1, column 3'],
    ['a zero byte', 'x,\0\n', 'line 1, column 3'],
    ['a lone carriage return', 'x\ry\n', 'line 1, column 3'],
    ['an endless field', `${'x'.repeat(20_000)}\n`, 'line 1, column 1'],
  ])('%s is refused with its place', async (_name, content, place) => {
    expect(await refusalOf(content, REPORT)).toContain(place);
  });
});

/** Tests cite the rules of sequences.ts. An entry is what a statement begins and ends with, in euros. */
describe('statements that follow each other have one sequence', () => {
  type Page = readonly [opening: number, closing: number, isLast?: boolean];
  const at = (euros: number) => ({ mark: euros < 0 ? 'D' : 'C', amount: Math.abs(euros) });
  const mt940Of = (pages: readonly Page[]) => {
    let isFirst = true;
    const statements = pages.map(([opening, closing, isLast = true]) => {
      const [begin, end, moved] = [at(opening), at(closing), at(closing - opening)];
      const text = [
        ':20:A\n:25:12030000/202051',
        `:60${isFirst ? 'F' : 'M'}:${begin.mark}261006EUR${begin.amount},00`,
        ...(moved.amount === 0
          ? []
          : [`:61:261006${moved.mark}${moved.amount},00NTRFA\n:86:ACME PAYMENTS`]),
        `:62${isLast ? 'F' : 'M'}:${end.mark}261006EUR${end.amount},00\n-\n`,
      ];
      isFirst = isLast;
      return text.join('\n');
    });
    return statements.join('');
  };
  const camtOf = (pages: readonly Page[]) => {
    let number = 1;
    let whole = 0;
    const statements = pages.map(([opening, closing, isLast = true], place) => {
      if (number === 1) whole = opening;
      const last = pages.slice(place).find(([, , isEnd = true]) => isEnd)?.[1] ?? closing;
      const amount = (euros: number) =>
        `<Amt Ccy="EUR">${at(euros).amount}</Amt><CdtDbtInd>${euros < 0 ? 'DBIT' : 'CRDT'}</CdtDbtInd>`;
      const balance = (code: string, euros: number) =>
        `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${amount(euros)}</Bal>`;
      const text = [
        `<Stmt><StmtPgntn><PgNb>${number}</PgNb><LastPgInd>${isLast}</LastPgInd></StmtPgntn>`,
        '<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id></Acct>',
        balance('OPBD', whole),
        balance('CLBD', last),
        ...(closing === opening
          ? []
          : [
              `<Ntry>${amount(closing - opening)}<Sts>BOOK</Sts><BookgDt><Dt>2026-10-06</Dt></BookgDt>`,
              '<AddtlNtryInf>ACME PAYMENTS</AddtlNtryInf></Ntry>',
            ]),
        '</Stmt>',
      ];
      number = isLast ? 1 : number + 1;
      return text.join('');
    });
    return `<Document><BkToCstmrStmt>${statements.join('')}</BkToCstmrStmt></Document>`;
  };

  test.each<[name: string, pages: readonly Page[], expected: readonly number[]]>([
    [
      '1: one after the other',
      [
        [0, 5],
        [5, 9],
        [9, 1],
      ],
      [1, 1, 1],
    ],
    [
      '1: not the same one again',
      [
        [0, 5],
        [0, 5],
      ],
      [1, 2],
    ],
    [
      '1: not one behind a gap',
      [
        [0, 5],
        [6, 9],
        [9, 10],
      ],
      [1, 2, 2],
    ],
    [
      '1: not the same ones again, further on',
      [
        [0, 5],
        [5, 9],
        [5, 9],
        [9, 12],
      ],
      [1, 1, 2, 2],
    ],
    [
      '2: not the same days again, which end as they began',
      [
        [0, 5],
        [5, 0],
        [0, 5],
        [5, 0],
      ],
      [1, 1, 2, 2],
    ],
    [
      '3: with one without entries between them',
      [
        [0, 5],
        [5, 5],
        [5, 9],
      ],
      [1, 1],
    ],
    [
      '3: but not with one behind a gap, also if one without entries is between them',
      [
        [0, 5],
        [7, 7],
        [7, 9],
      ],
      [1, 2],
    ],
    [
      '3: pages of one statement, also where they come back',
      [
        [0, 5, false],
        [5, 0, false],
        [0, 5],
      ],
      [1, 1, 1],
    ],
    [
      '3: pages of one statement with an empty one',
      [
        [0, 5, false],
        [5, 5, false],
        [5, 9],
        [9, 12],
      ],
      [1, 1, 1],
    ],
    [
      '3: but not the same pages again',
      [
        [0, 5, false],
        [5, 9],
        [0, 5, false],
        [5, 9],
      ],
      [1, 1, 2, 2],
    ],
  ])('rule %s', async (_name, pages, expected) => {
    const found = await Promise.all([
      linesOf(Buffer.from(mt940Of(pages)), MT940),
      linesOf(Buffer.from(camtOf(pages)), CAMT),
    ]);
    expect(found.map(({ lines }) => lines.map(({ sequence }) => sequence))).toEqual([
      expected,
      expected,
    ]);
  });
});

describe('pages of a camt.053 statement', () => {
  const xml = example('statement.xml').toString('utf8');
  const [head = ''] = xml.split('<Stmt>');
  const [credit = '', debit = ''] = xml.match(/<Ntry>[\s\S]*?<\/Ntry>/g) ?? [];
  const balance = (code: string, amount: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt>` +
    '<CdtDbtInd>CRDT</CdtDbtInd></Bal>';
  const [opening, closing] = [balance('OPBD', '1000.00'), balance('CLBD', '568.25')];
  const interim = balance('ITBD', '1068.25');
  const pagination = (name: string, number: number, isLast: boolean) =>
    `<${name}><PgNb>${number}</PgNb><LastPgInd>${isLast}</LastPgInd></${name}>`;
  const statement = (...content: readonly string[]) => `<Stmt><Id>1</Id>${content.join('')}</Stmt>`;
  const account = '<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id></Acct>';
  const page = (number: number, isLast: boolean, ...content: readonly string[]) =>
    statement(pagination('StmtPgntn', number, isLast), account, ...content);
  const message = (...statements: readonly string[]) =>
    `${head}${statements.join('')}</BkToCstmrStmt></Document>`;
  const paged = (number: number, isLast: boolean, ...statements: readonly string[]) =>
    message(...statements).replace(
      '</GrpHdr>',
      `${pagination('MsgPgntn', number, isLast)}</GrpHdr>`,
    );

  test.each([
    ['the balances of the whole statement on each page', [opening, closing], [opening, closing]],
    ['the opening balance on the first page, the closing one on the last', [opening], [closing]],
    ['interim balances between the pages', [opening, interim], [interim, closing]],
    ['all of these', [opening, interim, closing], [opening, interim, closing]],
  ])('with %s are one statement (rule 1)', async (_, first, last) => {
    const pages = [page(1, false, ...first, credit), page(2, true, ...last, debit)];
    const read = await readWhole(message(...pages));
    expect(read).toMatchObject({ lines: [{ grossMinor: 6825 }], ignored: 1, isContinued: false });
    const cut = message(page(1, false, ...first, credit), page(2, true, ...last));
    expect(await refusalOf(cut, CAMT)).toContain('-500.00 EUR is missing');
  });

  test.each([
    ['the balances of the whole statement', [opening, closing], [opening, closing]],
    ['interim balances', [opening, interim], [interim, closing]],
  ])('with %s may be files of their own (rule 3)', async (_, first, last) => {
    const files = [
      [page(1, false, ...first, credit), page(2, true, ...last, debit)],
      [statement(account, ...first, credit), statement(account, ...last, debit)],
    ];
    const [[one = '', two = ''] = [], [ofFirst = '', ofLast = ''] = []] = files;
    const own = await Promise.all([message(one), message(two)].map(readWhole));
    const ofMessage = [paged(1, false, ofFirst), paged(2, true, ofLast)];
    expect(await Promise.all(ofMessage.map(readWhole))).toEqual(own);
    expect(own).toMatchObject([
      { lines: [{ grossMinor: 6825 }], ignored: 0, isContinued: true },
      { lines: [], ignored: 1, isContinued: false },
    ]);
  });

  test('of which the middle one has two interim balances is checked by them (rule 1)', async () => {
    const middle = (...entries: readonly string[]) =>
      message(page(2, false, interim, balance('ITBD', '568.25'), ...entries));
    expect(await readWhole(middle(debit))).toMatchObject({ ignored: 1, isContinued: true });
    expect(await refusalOf(middle(), CAMT)).toContain('-500.00 EUR is missing');
  });

  test.each([
    [
      'a page between two others is missing',
      [page(1, false, opening, credit), page(3, true, closing, debit)],
      'this is page 3 of a statement, and page 2 of the one before it is missing',
    ],
    [
      'another statement follows',
      [page(1, false, opening, credit), page(1, true, opening, credit, debit, closing)],
      'this is page 1 of a statement, and page 2 of the one before it is missing',
    ],
    [
      'an interim balance is another one',
      [
        page(1, false, opening, interim, credit),
        page(2, true, balance('ITBD', '1068.24'), closing, debit),
      ],
      'ends with 1,068.25 EUR, and this one begins with 1,068.24 EUR',
    ],
    [
      'a page has no number',
      [page(0, true, opening, closing, credit, debit)],
      'no readable number',
    ],
  ])('are refused if %s (rule 2)', async (_, pages, problem) => {
    const refusal = await refusalOf(message(...pages), CAMT);
    expect(refusal.replaceAll(',', '')).toContain(problem.replaceAll(',', ''));
  });

  test('of a message with several statements are read, whichever is continued (rule 4)', async () => {
    const whole = statement(account, opening, closing, credit, debit);
    const first = paged(1, false, whole, statement(account, opening, credit));
    const last = paged(2, true, statement(account, closing, debit), whole);
    expect(await Promise.all([first, last].map(readWhole))).toMatchObject([
      { ignored: 1, isContinued: true },
      { ignored: 2, isContinued: false },
    ]);
  });
});

describe('reports', () => {
  const header = 'Batch,Line,Type,Payment,Date,Currency,Gross,Fee,Net\n';
  const row = (fields: Partial<Record<'type' | 'date' | 'currency' | 'gross' | 'net', string>>) => {
    const {
      type = 'Charge',
      date = '2026-10-04',
      currency = 'EUR',
      gross = '10.00',
      net = '9.50',
    } = fields;
    return `${header}B1,1,${type},pay_1,${date},${currency},${gross},0.50,${net}\n`;
  };
  test.each([
    ['a type without a translation', row({ type: 'Bonus' }), 'line 2, column 6: the type "Bonus"'],
    [
      'a day that does not exist',
      row({ date: '2026-02-30' }),
      'line 2, column 19: "2026-02-30" is not a day',
    ],
    ['an amount with too many decimals', row({ gross: '10.001' }), 'is not an amount of EUR'],
    ['a currency that is none', row({ currency: 'EURO' }), '"EURO" is not a currency'],
    ['another net amount', row({ net: '9.51' }), 'gross less fee is 9.50 EUR'],
    ['a row of other length', `${header}B1,1\n`, 'the line has 2 fields, and the header has 9'],
    ['a missing column', 'Batch,Line\n', 'no column is named'],
    ['a column that is there twice', header.replace('Net', 'Fee'), 'two columns are named "Fee"'],
    ['no header', '', 'the file has no header'],
  ])('%s is refused', async (_name, content, problem) => {
    expect(await refusalOf(content, REPORT)).toContain(problem);
  });

  test('unsigned amounts get their sign by their type, and negative fees are charges', async () => {
    const source = sourceOf('report-source.json', { gross: 'by_type', fee: 'negative' });
    const content = `${header}B1,1,Refund,ref_1,2026-10-04,EUR,5.00,-0.10,-5.10\n`;
    const { lines } = await linesOf(Buffer.from(content), source);
    expect(lines).toMatchObject([{ type: 'refund', grossMinor: -500, feeMinor: 10 }]);
  });

  test('a byte that the encoding does not have is refused, and read with the right one', async () => {
    const content = Buffer.from(row({ type: 'Gebühr' }), 'latin1');
    expect(await refusalOf(content, REPORT)).toContain('a byte that is not utf-8');
    const source = sourceOf('report-source.json', {
      encoding: 'windows-1252',
      types: { Gebühr: 'fee' },
    });
    expect((await linesOf(content, source)).lines).toMatchObject([{ type: 'fee', feeMinor: -950 }]);
  });
});

describe('statements', () => {
  const xml = example('statement.xml').toString('utf8');
  const mt = example('statement.mt940').toString('utf8');
  test.each([
    [
      'another account',
      xml.replace('DE02120300000000202051', 'DE99999999999999999999'),
      CAMT,
      'is of the account',
    ],
    ['a changed amount', xml.replace('>68.25<', '>68.26<'), CAMT, '-0.01 EUR is missing'],
    [
      'a document type',
      xml.replace('<Document', '<!DOCTYPE x [<!ENTITY a "b">]><Document'),
      CAMT,
      'a document type',
    ],
    ['an unknown entity', xml.replace('Rent October', '&a;'), CAMT, 'line '],
    ['a cut file', xml.slice(0, 900), CAMT, '(Unclosed root tag): the file was cut'],
    ['another format', 'Batch,Line\n', CAMT, 'correct "format" in the source file'],
    [
      'a report of the day',
      xml.replaceAll('BkToCstmrStmt', 'BkToCstmrAcctRpt'),
      CAMT,
      'Only statements of booked entries',
    ],
    [
      'an entry that was removed',
      mt.replace(/:61:2610061006D[^:]*:86:[^:]*/, ''),
      MT940,
      '500.00 EUR is missing',
    ],
    ['another account', mt.replace('202051', '202052'), MT940, 'is of the account'],
    [
      'an unknown tag',
      mt.replace(':28C:', ':99X:'),
      MT940,
      'line 3, column 1: MT940 has no tag :99X:',
    ],
    ['an entry that is none', mt.replace('C68,25', 'X68,25'), MT940, 'line 5, column 1'],
    ['an endless line', `:20:${'x'.repeat(5_000)}`, MT940, 'more than 1000 characters'],
  ])('%s is refused', async (_name, content, source, problem) => {
    expect(await refusalOf(content, source)).toContain(problem);
  });

  test('entries that are not booked are passed over', async () => {
    const pending = xml.replace(/<Ntry>\s*<Amt Ccy="EUR">500[\s\S]*?<\/Ntry>/, (entry) =>
      entry.replace('BOOK', 'PDNG'),
    );
    const balanced = pending.replace('568.25', '1068.25');
    expect(await linesOf(Buffer.from(balanced), CAMT)).toMatchObject({
      lines: [{ grossMinor: 6825 }],
      ignored: 0,
    });
  });

  test('a collective entry is a line for each transaction with an amount', async () => {
    const two =
      '<NtryDtls><TxDtls><Amt Ccy="EUR">60.00</Amt><RmtInf><Ustrd>ACME PAYMENTS ST-A</Ustrd></RmtInf></TxDtls>' +
      '<TxDtls><Amt Ccy="EUR">8.25</Amt><RmtInf><Ustrd>somebody else</Ustrd></RmtInf></TxDtls></NtryDtls>';
    const content = xml.replace(/<NtryDtls>[\s\S]*?<\/NtryDtls>/, two);
    const { lines, ignored } = await linesOf(Buffer.from(content), CAMT);
    expect(lines).toMatchObject([{ grossMinor: 6000, lineReference: '2026100600001/1' }]);
    expect(ignored).toBe(2);
  });

  test('a reversal has the sign of its mark, and a booking in January belongs to the next year', async () => {
    const reversed = mt
      .replace('2610061006C68,25', '2612310102RC68,25')
      .replace('568,25', '431,75');
    const { lines } = await linesOf(Buffer.from(reversed), MT940);
    expect(lines).toMatchObject([{ grossMinor: -6825, day: '2027-01-02' }]);
  });
});

test('a source file with mistakes is refused with all of them', () => {
  const { name: _name, ...rest } = JSON.parse(example('report-source.json').toString('utf8')) as {
    name: string;
  };
  const read = parseSource(JSON.stringify({ ...rest, decimal: ';', other: 1 }));
  expect(read.outcome === 'refused' && read.problems.length).toBe(3);
});

test.each(['payment', 'refund', 'dispute', 'payout', 'fee', 'adjustment', 'ignore'])(
  'a source file may translate a word of the service to %s',
  (type) => {
    expect(sourceOf('report-source.json', { types: { Word: type } })).toMatchObject({
      types: { Word: type },
    });
  },
);
