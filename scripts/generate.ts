/** Writes what is generated from the code: the description of the admin API. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOpenApi } from '../src/console/openapi.ts';
import { packageRoot } from '../src/platform/packageRoot.ts';

const text = `${JSON.stringify(buildOpenApi(), null, 2)}\n`;
writeFileSync(join(packageRoot(), 'docs', 'openapi-admin.json'), text);
