/** A download of the console as data: the rows of a list as text, sent while they are read. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { z } from 'zod';
import type { Permission } from '../access/domain/roles.ts';
import type { Actor } from '../audit/domain/actor.ts';
import { recordAudit } from '../audit/recordAudit.ts';
import { parseInput } from '../console/parseInput.ts';
import type { Csv } from '../representation/listCsv.ts';
import { invalid, type PageParts, type Problem } from './page.ts';

type OpenedRows<Row> =
  | {
      readonly outcome: 'ok';
      readonly csv: Csv<Row>;
      readonly pages: AsyncIterable<readonly Row[]>;
    }
  | Problem;

export interface Download {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly fileName: string;
  readonly type: 'text/csv' | 'application/x-ndjson' | 'text/plain';
  /** What is wrong with a request is found here: once the first row is sent, no page can show it. */
  readonly open: (parts: PageParts, raw: RawDownload) => Promise<OpenedDownload | Problem>;
}

export interface RawDownload {
  readonly query: unknown;
  readonly actor: Actor;
}

interface OpenedDownload {
  readonly outcome: 'ok';
  /** Sends everything at the pace of the reader, and ends the response. */
  readonly send: (to: Writable) => Promise<void>;
}

interface TextDefinition<Query extends z.ZodObject> extends Omit<Download, 'open'> {
  readonly query: Query;
  readonly open: (
    parts: PageParts,
    request: { readonly query: z.output<Query>; readonly actor: Actor },
  ) => OpenedDownload | Problem | Promise<OpenedDownload | Problem>;
}

/** Ties a download of any text to its query. */
export function defineTextDownload<Query extends z.ZodObject>({
  query: schema,
  open,
  ...download
}: TextDefinition<Query>): Download {
  return {
    ...download,
    open: async (parts, { query: raw, actor }) => {
      const query = parseInput(schema, raw);
      if (!query.success) return invalid('filter', query.error);
      return await open(parts, { query: query.data, actor });
    },
  };
}

interface DownloadDefinition<Query extends z.ZodObject, Row> {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly query: Query;
  readonly fileName: string;
  readonly open: (parts: PageParts, query: z.output<Query>) => OpenedRows<Row>;
}

/** Ties the rows of a download to its CSV. */
export function defineDownload<Query extends z.ZodObject, Row>({
  open,
  ...definition
}: DownloadDefinition<Query, Row>): Download {
  return defineTextDownload({
    ...definition,
    type: 'text/csv',
    open: (parts, { query, actor }) => {
      const opened = open(parts, query);
      if (opened.outcome !== 'ok') return opened;
      const exported = { path: definition.path, actor, filter: query };
      return { outcome: 'ok', send: (to) => sendRecorded(parts, exported, textOf(opened), to) };
    },
  });
}

/** Sends text, recorded before its first row leaves: it takes much of the ledger out of Tallyhook. */
export async function sendRecorded(
  { db }: Pick<PageParts, 'db'>,
  exported: { readonly path: string; readonly actor: Actor; readonly filter: object },
  text: AsyncIterable<string> | Iterable<string>,
  to: Writable,
): Promise<void> {
  const { path, actor, filter } = exported;
  await recordAudit(db, {
    actor,
    action: 'list.export',
    subject: { kind: 'list', id: path.slice(1).replace(/\.csv$/, '') },
    detail: { filter },
  });
  await pipeline(Readable.from(text), to);
}

async function* textOf<Row>({
  csv: { heading, lines },
  pages,
}: {
  readonly csv: Csv<Row>;
  readonly pages: AsyncIterable<readonly Row[]>;
}): AsyncGenerator<string, void> {
  yield heading;
  for await (const rows of pages) yield lines(rows);
}
