/** The statement of a month as one HTML file with its style, to keep, send and print. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { render } from 'preact-render-to-string';
import { packageRoot } from '../../platform/packageRoot.ts';
import type { StatementText } from '../../representation/statementTables.ts';
import { StatementTables } from './StatementTables.tsx';

export function statementDocument(statement: StatementText): string {
  const style = readFileSync(join(packageRoot(), 'src/pages/browser/statement.css'), 'utf8');
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{statement.title}</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <main>
          <h1>{statement.title}</h1>
          <StatementTables {...statement} />
        </main>
      </body>
    </html>,
  );
  return `<!doctype html>${html}\n`;
}
