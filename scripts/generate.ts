/** Writes what is generated from the code: OpenAPI documents, references, and `.env.example`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { STATEMENTS } from '../test/conformance/statements/index.ts';
import { writeOperations } from './adminApi/writeOperations.ts';
import { fillTables, readSections } from './interface/document.ts';
import { buildAdminOpenApi } from './openapi/admin.ts';
import { writePage } from './prove/page.ts';
import { parseReport } from './prove/report.ts';
import { writeReference } from './reference/writeReference.ts';
import { writeAdminApi } from './writeAdminApi.ts';
import { buildFailureSchema, writeCommands } from './writeCommands.ts';
import { writeCoverage } from './writeCoverage.ts';
import { readLockedPackages, writeLicenses } from './writeLicenses.ts';
import { buildOutputSchema } from './writeOutputs.ts';
import { writePermissions } from './writePermissions.ts';
import { writeExample, writeSettings } from './writeSettings.ts';
import { buildWebhookSchema, writeWebhooks } from './writeWebhooks.ts';

const write = (file: string, text: string) => writeFileSync(join(packageRoot(), file), text);

const read = (file: string) => readFileSync(join(packageRoot(), file), 'utf8');

const interfaceFile = 'docs/service-interface.md';
const serviceInterface = fillTables(read(interfaceFile));
write(interfaceFile, serviceInterface);
write('docs/interface-coverage.md', writeCoverage(STATEMENTS, readSections(serviceInterface)));
write('docs/openapi-admin.json', `${JSON.stringify(buildAdminOpenApi(), null, 2)}\n`);
write('src/adminApi/operations.ts', writeOperations());
write('docs/webhooks.schema.json', `${JSON.stringify(buildWebhookSchema(), null, 2)}\n`);
write('docs/command-error.schema.json', `${JSON.stringify(buildFailureSchema(), null, 2)}\n`);
write('docs/command-output.schema.json', `${JSON.stringify(buildOutputSchema(), null, 2)}\n`);
write('docs/reference/webhooks.md', writeWebhooks());
write('docs/client-reference.md', await writeReference());
write('docs/reference/admin-api.md', writeAdminApi());
write('docs/reference/commands.md', await writeCommands());
write('docs/reference/licenses.md', writeLicenses(readLockedPackages()));
write('docs/reference/settings.md', writeSettings());
write('docs/figures.md', writePage(parseReport(read('docs/figures.json'))));
write('docs/reference/permissions.md', writePermissions());
write('.env.example', writeExample());
