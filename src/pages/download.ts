/** A download of the console as data: the rows of a list as CSV, sent while they are read. */
import type { z } from 'zod';
import type { Permission } from '../access/domain/roles.ts';
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
  readonly open: (
    parts: PageParts,
    query: unknown,
  ) => { readonly outcome: 'ok'; readonly text: AsyncIterable<string> } | Problem;
}

interface DownloadDefinition<Query extends z.ZodObject, Row> {
  readonly path: `/${string}`;
  readonly permission: Permission;
  readonly query: Query;
  readonly fileName: string;
  readonly open: (parts: PageParts, query: z.output<Query>) => OpenedRows<Row>;
}

/** Ties the rows of a download to its CSV. */
export function defineDownload<Query extends z.ZodObject, Row>(
  definition: DownloadDefinition<Query, Row>,
): Download {
  const { path, permission, fileName } = definition;
  return {
    path,
    permission,
    fileName,
    open: (parts, raw) => {
      const query = definition.query.safeParse(raw);
      if (!query.success) return invalid('filter', query.error);
      const opened = definition.open(parts, query.data);
      return opened.outcome === 'ok' ? { outcome: 'ok', text: textOf(opened) } : opened;
    },
  };
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
