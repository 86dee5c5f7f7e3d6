/** Writes docs/openapi-service.json, which is part of the package and not of the repository. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { buildServiceOpenApi } from './openapi/service.ts';

const file = join(packageRoot(), 'docs', 'openapi-service.json');
writeFileSync(file, `${JSON.stringify(buildServiceOpenApi(), null, 2)}\n`);
