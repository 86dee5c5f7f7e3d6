/** Runs a worker: reads the settings, starts its roles and runs until a stop signal. */
import type { Role } from '../src/assembly/roles.ts';
import { start } from '../src/assembly/start.ts';
import { loadConfig, readEnvironment } from '../src/config/config.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createLog } from '../src/platform/log.ts';
import { exitWith, runUntilSignal } from '../src/platform/shutdown.ts';

export async function runRoles(roles: readonly Role[]): Promise<void> {
  try {
    const config = loadConfig(readEnvironment());
    const log = createLog(config.logLevel);
    await runUntilSignal(() => start(config, new Set(roles), { machine: systemClock, log }), log);
  } catch (error) {
    exitWith(error);
  }
}
