/** The statement of a month as tables, on its page and in its file. */
import type { StatementText, TextTable } from '../../representation/statementTables.ts';
import { DataTable, Section } from '../components/blocks.tsx';

export function StatementTables({ facts, currencies, closing, clearing, tables }: StatementText) {
  return (
    <div class="statement">
      {facts.map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
      {currencies.length === 0 ? (
        <p class="empty">No money moved before the end of this month.</p>
      ) : null}
      {currencies.map(({ currency, tables: own }) => (
        <Section key={currency} title={currency}>
          {own.map((table) => (
            <TableOf key={table.title} label={`${table.title} in ${currency}`} table={table} />
          ))}
        </Section>
      ))}
      {closing.length === 0 ? null : (
        <Section title="Closing">
          {closing.map((table) => (
            <TableOf key={table.title} label={table.title} table={table} />
          ))}
        </Section>
      )}
      <Section title="Clearing">
        {clearing.map((table) => (
          <TableOf key={table.title} label={table.title} table={table} />
        ))}
      </Section>
      <Section title="What was open">
        {tables.map((table) => (
          <TableOf key={table.title} label={table.title} table={table} />
        ))}
      </Section>
    </div>
  );
}

function TableOf({ label, table }: { readonly label: string; readonly table: TextTable }) {
  const rows = table.rows.map((cells, place) => ({ cells, key: `${place} ${cells[0]}` }));
  return (
    <>
      <h3>{table.title}</h3>
      <DataTable
        caption={label}
        columns={table.columns.map(({ title, isNumber }, place) => ({
          title,
          isNumber,
          cell: ({ cells }: (typeof rows)[number]) => cells[place],
        }))}
        rows={rows}
        keyOf={({ key }) => key}
        empty={table.empty}
      />
    </>
  );
}
