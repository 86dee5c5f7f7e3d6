/** The file that maps the accounts of the journal to the merchant's chart of accounts. */
import { z } from 'zod';
import { type Chart, chartProblems } from '../ledger/domain/chart.ts';
import { ENTRY_FORMATS, type EntryFormatName } from '../ledger/domain/entryFormats.ts';
import { ACCOUNT_NAMES } from '../ledger/domain/legs.ts';
import { UsageError } from '../platform/errors.ts';
import { printable } from '../platform/printable.ts';
import { readInput } from './context.ts';

const EXAMPLE = '{"code": "1360", "name": "Payment service"}, or null to leave the account out';

const text = z.string('must be a text').regex(/^[^\p{C}]{1,200}$/u, 'must be 1 to 200 characters');

const account = z.strictObject({ code: text, name: text }, { error: shapeProblem });

const chart = z.record(z.enum(ACCOUNT_NAMES), z.nullable(account), { error: shapeProblem });

function shapeProblem({ code, keys }: { readonly code: string; readonly keys?: unknown }) {
  return code === 'unrecognized_keys' && Array.isArray(keys)
    ? `has ${keys.map((key) => JSON.stringify(key)).join(', ')}, which is unknown`
    : `must be an object such as ${EXAMPLE}`;
}

/** @throws UsageError which names every account that is missing, and everything that is wrong */
export async function readChartFile(file: string, format: EntryFormatName): Promise<Chart> {
  const content = readJson(file, (await readInput(file)).toString('utf8'));
  const missing = isObject(content)
    ? ACCOUNT_NAMES.filter((account) => !Object.hasOwn(content, account))
    : [];
  if (missing.length > 0) {
    const which = missing.length === 1 ? 'This account has' : 'These accounts have';
    throw refused(file, [`${which} no mapping: ${missing.join(', ')}. Add ${EXAMPLE}.`]);
  }
  const read = chart.safeParse(content);
  if (!read.success) {
    const problems = read.error.issues.map(
      ({ path, message }) => `${path.length === 0 ? 'The file' : path.join(': ')} ${message}.`,
    );
    throw refused(file, problems);
  }
  const problems = chartProblems(read.data, ENTRY_FORMATS[format].names);
  if (problems.length > 0) throw refused(file, problems);
  return read.data;
}

function isObject(content: unknown): content is object {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

function readJson(file: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw refused(file, [`It is not JSON${lineOf(message, content)}: ${message}.`]);
  }
}

/** The line of a mistake; the message has its position unless it quotes what is there. */
function lineOf(message: string, content: string): string {
  const position = / position (\d+)/.exec(message)?.[1];
  if (position === undefined || message.includes('(line ')) return '';
  return ` (line ${content.slice(0, Number(position)).split('\n').length})`;
}

function refused(file: string, problems: readonly string[]): UsageError {
  const lines = problems.map((problem) => printable(problem));
  return new UsageError(
    `The chart of accounts ${printable(file)} cannot be used. Nothing was written.\n${lines.join('\n')}`,
  );
}
