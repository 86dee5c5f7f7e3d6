/**
 * Reads CSV (RFC 4180) in pieces of any size.
 *
 * 1. What the format does not allow is refused with its place: a quote within a field, text after a closing
 *    quote, control characters. Nothing is guessed.
 * 2. A file that ends within quotes, or within a line, was cut.
 * 3. Memory is bounded: a field and a row have a largest size.
 */
import { FileProblem, hasControl, type Place, quoted } from './fileProblem.ts';

export interface Field extends Place {
  readonly text: string;
}
export type Row = readonly Field[];

const MAX_FIELD = 10_000;
const MAX_FIELDS = 500;

export interface CsvReader {
  /** @returns the rows that end in this piece */
  readonly push: (text: string) => readonly Row[];
  readonly end: () => readonly Row[];
}

export interface CsvForm {
  readonly delimiter: string;
  /** Whether the last line ends like every other one. */
  readonly lastLineEnds: boolean;
}

type State = 'start' | 'plain' | 'quoted' | 'closed' | 'return';

export function createCsvReader({ delimiter, lastLineEnds }: CsvForm): CsvReader {
  const rows = createRows();
  let state: State = 'start';
  let [line, column] = [1, 1];
  const here = (): Place => ({ line, column });
  const refuse = (message: string): never => {
    throw new FileProblem(here(), message);
  };
  /** A character outside of quotes. */
  const readPlain = (character: string): State => {
    if (character === delimiter) rows.endField();
    else if (character === '\n') rows.endRow();
    else if (character === '\r') return 'return';
    else if (state === 'closed') refuse('text follows a closing quote');
    else if (character !== '"') {
      rows.add(character);
      return 'plain';
    } else if (state === 'start') return 'quoted';
    else refuse('a quote is within a field that does not begin with one');
    return 'start';
  };
  const read = (character: string): State => {
    switch (state) {
      case 'quoted':
        if (character === '"') return 'closed';
        rows.add(character);
        return 'quoted';
      case 'return':
        if (character !== '\n') refuse('a carriage return without a line feed');
        rows.endRow();
        return 'start';
      case 'closed':
        if (character !== '"') return readPlain(character);
        rows.add(character);
        return 'quoted';
      default:
        if (state === 'start') rows.begin(here());
        return readPlain(character);
    }
  };
  return {
    push: (piece) => {
      for (const character of piece) {
        if (hasControl(character)) {
          refuse('a control character: the file is not text, or has another encoding');
        }
        state = read(character);
        if (character === '\n') [line, column] = [line + 1, 1];
        else column += 1;
      }
      return rows.take();
    },
    end: () => {
      const { began, text, isOpen } = rows.last();
      if (state === 'quoted') {
        throw new FileProblem(began, 'the quotes that begin here never end: the file was cut');
      }
      if (state === 'start' && !isOpen) return rows.take();
      if (lastLineEnds) refuse(unended(text));
      rows.endRow();
      return rows.take();
    },
  };
}

function unended(text: string): string {
  return (
    `the last line does not end, so the file may be cut after ${quoted(text)}. Download it again. If the ` +
    'service writes its files so, set "last_line_ends": false in the source file'
  );
}

/** Collects fields and rows, within their largest sizes (rule 3). */
function createRows() {
  let began: Place = { line: 1, column: 1 };
  let text = '';
  let fields: Field[] = [];
  let rows: Row[] = [];
  const endField = () => {
    fields.push({ ...began, text });
    text = '';
    if (fields.length > MAX_FIELDS) {
      throw new FileProblem(began, `a line has at most ${MAX_FIELDS} fields`);
    }
  };
  return {
    begin: (place: Place) => {
      began = place;
    },
    add: (character: string) => {
      text += character;
      if (text.length > MAX_FIELD) {
        throw new FileProblem(began, `a field has at most ${MAX_FIELD} characters`);
      }
    },
    endField,
    endRow: () => {
      endField();
      // An empty line has one empty field.
      const isEmpty = fields.length === 1 && fields[0]?.text === '';
      if (!isEmpty) rows.push(fields);
      fields = [];
    },
    take: (): readonly Row[] => {
      const taken = rows;
      rows = [];
      return taken;
    },
    last: () => ({ began, text, isOpen: fields.length > 0 }),
  };
}
