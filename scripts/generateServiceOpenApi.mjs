/** Writes docs/openapi-service.json from the table of endpoints; dist/ must be built. */
import { writeFileSync } from 'node:fs';
import { buildServiceOpenApi } from '../dist/src/contract/openapi.js';

const target = new URL('../docs/openapi-service.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(buildServiceOpenApi(), null, 2)}\n`);
