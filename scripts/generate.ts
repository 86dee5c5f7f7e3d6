/** Writes what is generated from the code: OpenAPI documents, references, and `.env.example`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOpenApi } from '../src/console/openapi.ts';
import { buildServiceOpenApi } from '../src/contract/openapi.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { STATEMENTS } from '../test/conformance/statements/index.ts';
import { writeReference } from './reference/writeReference.ts';
import { writeCoverage } from './writeCoverage.ts';
import { writeExample, writeSettings } from './writeSettings.ts';

const documents = {
  'openapi-admin.json': buildOpenApi(),
  'openapi-service.json': buildServiceOpenApi(),
};
const docs = join(packageRoot(), 'docs');
for (const [file, document] of Object.entries(documents)) {
  writeFileSync(join(docs, file), `${JSON.stringify(document, null, 2)}\n`);
}
writeFileSync(join(docs, 'client-reference.md'), await writeReference());
writeFileSync(join(docs, 'interface-coverage.md'), writeCoverage(STATEMENTS));
writeFileSync(join(docs, 'reference/settings.md'), writeSettings());
writeFileSync(join(packageRoot(), '.env.example'), writeExample());
