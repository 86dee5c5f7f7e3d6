import { Command, InvalidArgumentError } from 'commander';
import { defaultRoles, ROLES, type Role } from '../../assembly/roles.ts';
import { start } from '../../assembly/start.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { runUntilSignal } from '../../platform/shutdown.ts';
import { describe, printBanner } from '../banner.ts';
import { explainDatabase, printJsonLine, readConfig } from '../context.ts';
import { jsonOption } from '../options.ts';

interface StartOptions {
  readonly roles?: ReadonlySet<Role>;
  readonly json: boolean;
}

const ROLES_HELP =
  `comma-separated: ${ROLES.join(', ')} ` +
  '(default: all; the sandbox only if no real service is configured)';

export function startCommand(): Command {
  return new Command('start')
    .option('--roles <roles>', ROLES_HELP, parseRoles)
    .addOption(jsonOption())
    .action(async ({ roles, json }: StartOptions) => {
      const config = readConfig();
      const log = createLog(config.logLevel);
      await runUntilSignal(async () => {
        const running = await start(config, roles ?? defaultRoles(config), {
          machine: systemClock,
          log,
        }).catch((error: unknown) => explainDatabase(error, config));
        if (json) printJsonLine(describe(config, running));
        else await printBanner(config, running);
        return running;
      }, log);
    });
}

function parseRoles(text: string): ReadonlySet<Role> {
  const roles = text.split(',').map((name) => {
    const role = ROLES.find((candidate) => candidate === name.trim());
    if (role === undefined) {
      throw new InvalidArgumentError(`"${name}" is not a role. Choose from ${ROLES.join(', ')}.`);
    }
    return role;
  });
  return new Set(roles);
}
