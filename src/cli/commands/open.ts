import { Command, InvalidArgumentError } from 'commander';
import { createSignInPath, LINK_LIFETIME_MS } from '../../access/signInLink.ts';
import { ADMIN } from '../../access/verifyToken.ts';
import { adminTokenOf } from '../../assembly/settings.ts';
import type { Config } from '../../config/config.ts';
import { readProcesses } from '../../monitor/store/processes.ts';
import type { Database } from '../../platform/db/database.ts';
import { UsageError } from '../../platform/errors.ts';
import { localUrl } from '../../platform/httpServer.ts';
import { SECOND_MS } from '../../platform/time.ts';
import { openInBrowser } from '../browser.ts';
import { printJson, readConfig, readSettings, withDatabase } from '../context.ts';
import { invocation, printLine, printNote, terminal } from '../invocation.ts';
import { jsonOption } from '../options.ts';

const MAX_PROCESSES = 200;

export function openCommand(): Command {
  return new Command('open')
    .argument(
      '[page]',
      'the page to open, such as /orders/ord_1001 (default: the overview)',
      readPage,
    )
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action(async (page: string | undefined, { json }: { readonly json: boolean }) => {
      const config = readConfig();
      const base = consoleAddress(config);
      const url = await withDatabase(config, async (db) => {
        const address = `${base}${await signInPath(config, db, page)}`;
        await noteIfNotRunning(db);
        return address;
      });
      if (json) {
        printJson({ url, expires_in_seconds: LINK_LIFETIME_MS / SECOND_MS });
        return;
      }
      printLine(url);
      printNote('Signs in once, within five minutes. Whoever has the address can use it.');
      if (terminal().stdout.isTTY && (await openInBrowser(url, readSettings()))) {
        printNote('Opened in your browser.');
      }
    });
}

const NOTES = `
Prints the address of the console, which signs in as the holder of TALLYHOOK_TOKEN, or of ADMIN_TOKEN. On a
desktop, it is also opened in the browser, unless the output goes to a file or a pipe.

Examples:

  tallyhook open
  tallyhook open /orders/ord_1001
  tallyhook open --json

Exit code: 0.`;

function readPage(text: string): string {
  if (/^\/(?!\/)/.test(text)) return text;
  throw new InvalidArgumentError('Give the path of a page, such as /alerts.');
}

/** @throws UsageError when the settings do not name the port */
function consoleAddress({ installation, adminHost, adminPort }: Config): string {
  const { consoleUrl } = installation;
  if (consoleUrl !== undefined) return consoleUrl;
  if (adminPort !== 0) return localUrl(adminHost, adminPort);
  throw new UsageError(
    'ADMIN_PORT is 0: each start takes a free port, which the settings do not name. Set ADMIN_PORT, or ' +
      'PUBLIC_CONSOLE_URL to the address of the console.',
  );
}

function signInPath(config: Config, db: Database, next: string | undefined): Promise<string> {
  const token = config.commandToken ?? adminTokenOf(config);
  const { name: holder } = invocation().holder ?? ADMIN;
  return createSignInPath(db, { token, holder, next });
}

async function noteIfNotRunning(db: Database): Promise<void> {
  const processes = await readProcesses(db, MAX_PROCESSES);
  if (processes.some(({ isSeen, roles }) => isSeen && roles.includes('console'))) return;
  printNote('No process has the role console now: `npx tallyhook start` starts one.');
}
