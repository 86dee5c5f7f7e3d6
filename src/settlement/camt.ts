/**
 * Reads camt.053 statements (ISO 20022, versions 02 to 13) in pieces of any size.
 *
 * 1. An entity or a document type is refused: no statement has one, and both can grow without limit.
 * 2. One entry is in memory at a time, and has a largest size.
 * 3. The sign is that of `CdtDbtInd`. `RvslInd` does not change it: a returned debit is a credit.
 * 4. Only booked entries count. A collective entry is one line for each of its transactions, if these have
 *    amounts that add up to it, and one line otherwise.
 * 5. A statement may have several pages; domain/pages.ts has the rules.
 */
import sax from 'sax';
import { parseCurrency } from '../contract/money.ts';
import { parseSignedAmount } from './domain/amounts.ts';
import {
  type BankEntry,
  type BankReader,
  givenReference,
  refuseOtherAccount,
} from './domain/bankEntries.ts';
import { parseDay } from './domain/days.ts';
import { FileProblem, hasControl, type Place, quoted } from './domain/fileProblem.ts';
import { createPages, type PageNumber, type Pages, pageNumberOf } from './domain/pages.ts';

/** An element within an entry, a balance, an account or a pagination. */
interface Element {
  readonly name: string;
  readonly place: Place;
  readonly currency: string | undefined;
  readonly children: Element[];
  text: string;
}

/** What is read as a whole. Everything else is passed over. */
const READ_WHOLE = new Set([
  'GrpHdr/MsgPgntn',
  'Stmt/StmtPgntn',
  'Stmt/Acct',
  'Stmt/Bal',
  'Stmt/Ntry',
]);
const STATEMENT_DEPTH = 3;
const MAX_DEPTH = 40;
const MAX_ELEMENTS = 200_000;
const MAX_TEXT = 10_000;

interface Statement {
  page: PageNumber | undefined;
  sequence: number | undefined;
  currency: string | undefined;
  hasAccount: boolean;
  openingMinor: number | undefined;
  closingMinor: number | undefined;
  readonly interimMinor: number[];
  entriesMinor: bigint;
}

/** @param page of its message */
const newStatement = (page: PageNumber | undefined): Statement => ({
  page,
  sequence: undefined,
  currency: undefined,
  hasAccount: false,
  openingMinor: undefined,
  closingMinor: undefined,
  interimMinor: [],
  entriesMinor: 0n,
});

/** Rule 1: only the entities that XML itself has. Its types lack the option. */
const STRICT = { strictEntities: true, position: true };

/** @param account the account that the statements must be of */
export function createCamtReader(account: string): BankReader {
  const pages = createPages();
  let ofMessage: PageNumber | undefined;
  let statement = newStatement(undefined);
  let hasStatement = false;
  let entries: BankEntry[] = [];
  const parser = createElementParser({
    onElement: (element) => {
      switch (element.name) {
        case 'MsgPgntn':
          ofMessage = { ...pageOf(element), isOwn: false };
          statement = newStatement(ofMessage);
          return;
        case 'StmtPgntn':
          statement.page = { ...pageOf(element), isOwn: true };
          return;
        case 'Acct':
          refuseOtherAccount(accountOf(element), account, element.place);
          statement.hasAccount = true;
          return;
        case 'Bal':
          return readBalance(statement, element);
        default:
          entries.push(...readEntry(statement, element, pages));
      }
    },
    onStatementEnd: (place) => {
      pages.end(statement.page, statement, place);
      statement = newStatement(ofMessage);
      hasStatement = true;
    },
  });
  const take = () => {
    const taken = entries;
    entries = [];
    return taken;
  };
  return {
    push: (text) => {
      parser.write(text);
      return take();
    },
    end: () => {
      parser.close();
      if (!hasStatement) throw new FileProblem({ line: 1, column: 1 }, 'the file has no statement');
      return take();
    },
    isContinued: pages.isContinued,
  };
}

function readEntry(statement: Statement, element: Element, pages: Pages): readonly BankEntry[] {
  if (!statement.hasAccount) {
    throw new FileProblem(element.place, 'an entry precedes the account of its statement');
  }
  const read = entriesOf(element);
  if (read.length === 0) return [];
  for (const { amountMinor } of read) statement.entriesMinor += BigInt(amountMinor);
  const sequence = statement.sequence ?? pages.begin(statement.page, statement);
  statement.sequence = sequence;
  return read.map((entry) => ({ ...entry, sequence }));
}

interface ElementParts {
  readonly onElement: (element: Element) => void;
  readonly onStatementEnd: (place: Place) => void;
}

/** Calls back with each element of `READ_WHOLE`. */
function createElementParser({ onElement, onStatementEnd }: ElementParts) {
  const parser = sax.parser(true, STRICT);
  const path: string[] = [];
  const open: Element[] = [];
  let elements = 0;
  const here = (): Place => ({ line: parser.line + 1, column: parser.column + 1 });
  const refuse = (message: string): never => {
    throw new FileProblem(here(), message);
  };
  const addText = (text: string) => {
    const element = open.at(-1);
    if (!element) return;
    element.text += text;
    if (element.text.length > MAX_TEXT) refuse(`a text has more than ${MAX_TEXT} characters`);
    if (hasControl(text)) refuse('a control character');
  };
  parser.onerror = ({ message }) => {
    const [why = ''] = message.split('\n');
    refuse(
      `the XML cannot be read (${why.replace(/\.$/, '')}): the file was cut, or has another format. ` +
        'Download it again, or correct "format" in the source file',
    );
  };
  parser.ondoctype = () => refuse('a document type, which no statement has');
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.onopentag = ({ name, attributes: { Ccy } }) => {
    const local = name.slice(name.indexOf(':') + 1);
    path.push(local);
    const problem = pathProblem(path);
    if (problem !== undefined) refuse(problem);
    const parent = open.at(-1);
    if (!parent && !isReadWhole(path)) return;
    elements = parent ? elements + 1 : 0;
    if (elements > MAX_ELEMENTS) refuse(`an entry has more than ${MAX_ELEMENTS} elements`);
    const currency = typeof Ccy === 'string' ? Ccy : undefined;
    const element: Element = { name: local, place: here(), currency, children: [], text: '' };
    parent?.children.push(element);
    open.push(element);
  };
  parser.onclosetag = () => {
    const local = path.pop();
    const element = open.pop();
    if (element && open.length === 0) onElement(element);
    if (path.length === STATEMENT_DEPTH - 1 && local === 'Stmt') onStatementEnd(here());
  };
  return parser;
}

/** What a camt.053 begins with. */
const PATH = ['Document', 'BkToCstmrStmt'];

function isReadWhole(path: readonly string[]): boolean {
  return READ_WHOLE.has(path.slice(PATH.length).join('/'));
}

function pathProblem(path: readonly string[]): string | undefined {
  if (path.length > MAX_DEPTH) return `elements are nested more than ${MAX_DEPTH} deep`;
  const local = path.at(-1) ?? '';
  if (path.length > PATH.length || local === PATH[path.length - 1]) return undefined;
  return path.length === 1
    ? `the root is ${quoted(local)}, and that of camt.053 is Document`
    : `the message is ${quoted(local)}. Only statements of booked entries (camt.053) are read`;
}

/** Descendants by their names, one level after the other. */
function at(element: Element, ...names: readonly string[]): readonly Element[] {
  return names.reduce<readonly Element[]>(
    (found, name) => found.flatMap(({ children }) => children.filter((one) => one.name === name)),
    [element],
  );
}

function textAt(element: Element, ...names: readonly string[]): string | undefined {
  const text = at(element, ...names)[0]?.text.trim();
  return text === '' ? undefined : text;
}

function pageOf(element: Element): Omit<PageNumber, 'isOwn'> {
  return pageNumberOf(textAt(element, 'PgNb'), textAt(element, 'LastPgInd'), element.place);
}

function accountOf(element: Element): string {
  return textAt(element, 'Id', 'IBAN') ?? textAt(element, 'Id', 'Othr', 'Id') ?? '';
}

interface SignedAmount {
  readonly currency: string;
  readonly amountMinor: number;
}

/** The amount of an element with its sign (rule 3). @param ofEntry for transactions without an own sign */
function signedAmount(
  element: Element,
  amount: Element | undefined,
  ofEntry?: string,
): SignedAmount | undefined {
  const currency = parseCurrency(amount?.currency);
  const sign = textAt(element, 'CdtDbtInd') ?? ofEntry;
  if (!amount || currency === undefined || (sign !== 'CRDT' && sign !== 'DBIT')) return undefined;
  // Any number of zeros may follow the decimals.
  const text = amount.text.trim().replace(/(\.\d*?)0+$/, '$1');
  if (!/^\d+(?:\.\d*)?$/.test(text)) return undefined;
  const amountMinor = parseSignedAmount(text, '.', currency);
  if (amountMinor === undefined) return undefined;
  return { currency, amountMinor: sign === 'CRDT' ? amountMinor : 0 - amountMinor };
}

function readBalance(statement: Statement, element: Element): void {
  const code = textAt(element, 'Tp', 'CdOrPrtry', 'Cd');
  const isInterim = code === 'ITBD' && statement.page !== undefined;
  if (!isInterim && code !== 'OPBD' && code !== 'PRCD' && code !== 'CLBD') return;
  const amount = signedAmount(element, at(element, 'Amt')[0]);
  if (!amount) throw new FileProblem(element.place, `the balance ${code} has no amount`);
  statement.currency = amount.currency;
  if (isInterim) statement.interimMinor.push(amount.amountMinor);
  else if (code === 'CLBD') statement.closingMinor = amount.amountMinor;
  // The previous closing balance is the opening one, where both are stated.
  else statement.openingMinor = amount.amountMinor;
}

function entriesOf(entry: Element): readonly Omit<BankEntry, 'sequence'>[] {
  const status = textAt(entry, 'Sts', 'Cd') ?? textAt(entry, 'Sts');
  if (status === undefined) throw new FileProblem(entry.place, 'an entry has no status');
  if (status !== 'BOOK') return [];
  const total = signedAmount(entry, at(entry, 'Amt')[0]);
  if (!total)
    throw new FileProblem(entry.place, 'an entry has no readable amount, currency or sign');
  const common = {
    place: entry.place,
    day: dayOfEntry(entry),
    bankReference: givenReference(textAt(entry, 'AcctSvcrRef')),
  };
  const transactions = at(entry, 'NtryDtls', 'TxDtls');
  const sign = textAt(entry, 'CdtDbtInd');
  const amounts = transactions.map((one) => signedAmount(one, amountOf(one), sign));
  if (transactions.length > 1 && addsUp(amounts, total)) {
    return transactions.map((one, place) => ({
      ...common,
      ...(amounts[place] ?? total),
      bankReference: ownReference(one, common.bankReference, place),
      ...partiesOf([one], entry),
    }));
  }
  return [{ ...common, ...total, ...partiesOf(transactions, entry) }];
}

function dayOfEntry(entry: Element): string {
  const text = ['BookgDt', 'ValDt']
    .flatMap((name) => [textAt(entry, name, 'Dt'), textAt(entry, name, 'DtTm')])
    .find((one) => one !== undefined);
  // The zone of a date is no part of it.
  const day = parseDay((text ?? '').slice(0, 10), 'iso');
  if (day !== undefined) return day;
  throw new FileProblem(
    entry.place,
    `an entry was booked on ${quoted(text ?? '')}, which is no day`,
  );
}

function amountOf(transaction: Element): Element | undefined {
  return at(transaction, 'Amt')[0] ?? at(transaction, 'AmtDtls', 'TxAmt', 'Amt')[0];
}

function addsUp(
  amounts: readonly (SignedAmount | undefined)[],
  { currency, amountMinor }: SignedAmount,
): boolean {
  if (amounts.some((one) => one?.currency !== currency)) return false;
  const sum = amounts.reduce((total, one) => total + BigInt(one?.amountMinor ?? 0), 0n);
  return sum === BigInt(amountMinor);
}

function ownReference(
  transaction: Element,
  ofEntry: string | undefined,
  place: number,
): string | undefined {
  const own = givenReference(textAt(transaction, 'Refs', 'AcctSvcrRef'));
  return own ?? (ofEntry === undefined ? undefined : `${ofEntry}/${place + 1}`);
}

/** What was written, and who is on the other side. Names moved into `Pty` with version 08. */
function partiesOf(
  transactions: readonly Element[],
  entry: Element,
): Pick<BankEntry, 'purpose' | 'parties'> {
  const all = (...names: readonly string[]) =>
    transactions.flatMap((one) => at(one, ...names).map(({ text }) => text.trim()));
  const written = [
    ...all('Refs', 'EndToEndId').filter((text) => givenReference(text) !== undefined),
    ...all('RmtInf', 'Ustrd'),
    ...all('RmtInf', 'Strd', 'CdtrRefInf', 'Ref'),
    ...all('AddtlTxInf'),
  ];
  const purpose = written.length === 0 ? (textAt(entry, 'AddtlNtryInf') ?? '') : written.join(' ');
  const parties = ['Dbtr', 'Cdtr', 'UltmtDbtr', 'UltmtCdtr'].flatMap((party) => [
    ...all('RltdPties', party, 'Nm'),
    ...all('RltdPties', party, 'Pty', 'Nm'),
  ]);
  const accounts = ['DbtrAcct', 'CdtrAcct'].flatMap((party) =>
    all('RltdPties', party, 'Id', 'IBAN'),
  );
  return { purpose, parties: [...parties, ...accounts] };
}
