/** Parts of pages: sections, lists of values, tables, pages of a list, empty states. */
import type { ComponentChildren } from 'preact';

/** A part of a page with a heading. */
export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Names with values. */
export function KeyValues({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="values">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Column<Row> {
  readonly title: string;
  /** Amounts and counts are aligned to the right. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface DataTableProps<Row> {
  readonly caption: string;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Shown instead of an empty table: what to do next. */
  readonly empty: ComponentChildren;
}

export function DataTable<Row>({ caption, columns, rows, keyOf, empty }: DataTableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  return (
    <ScrollRegion label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TableRow key={keyOf(row)} name={keyOf(row)} row={row} columns={columns} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function TableRow<Row>({
  name,
  row,
  columns,
}: {
  /** The row keeps its element while others come and go (browser/console.js). */
  readonly name: string;
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}) {
  const [first, ...others] = columns;
  return (
    <tr data-key={name}>
      <th scope="row">{first?.cell(row)}</th>
      {others.map(({ title, isNumber, cell }) => (
        <td key={title} class={isNumber ? 'number' : undefined}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** The way to the next page of a list; the browser's back button leads to the previous one. */
export function Pager({
  first,
  next,
}: {
  /** Undefined on the first page. */
  readonly first: string | undefined;
  /** Undefined on the last page. */
  readonly next: string | undefined;
}) {
  if (first === undefined && next === undefined) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first === undefined ? null : <a href={first}>First page</a>}
      {next === undefined ? null : (
        <a href={next} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** Text that keeps its lines and spaces, such as a body. It scrolls where it is too long, also by keyboard. */
export function Preformatted({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    <ScrollRegion label={label}>
      <pre>{children}</pre>
    </ScrollRegion>
  );
}

/** What may be wider than a phone or longer than a page scrolls on its own, also by keyboard. */
export function ScrollRegion({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
