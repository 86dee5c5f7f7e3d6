/** Writes what is generated from the code: the descriptions of the admin API and of the service. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOpenApi } from '../src/console/openapi.ts';
import { buildServiceOpenApi } from '../src/contract/openapi.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';

const documents = {
  'openapi-admin.json': buildOpenApi(),
  'openapi-service.json': buildServiceOpenApi(),
};
for (const [file, document] of Object.entries(documents)) {
  writeFileSync(join(packageRoot(), 'docs', file), `${JSON.stringify(document, null, 2)}\n`);
}
