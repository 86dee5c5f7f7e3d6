/** Opens an address in the browser of the desktop, where there is one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Environment, withoutSettings } from '../config/config.ts';

/** The program that opens an address; undefined on a machine without a desktop. */
export function openerOf(platform: NodeJS.Platform, env: Environment): string | undefined {
  if (platform === 'darwin') return 'open';
  const hasDesktop = Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  return platform === 'linux' && hasDesktop ? 'xdg-open' : undefined;
}

/** @returns whether a program was started that opens it */
export async function openInBrowser(address: string, env: Environment): Promise<boolean> {
  const opener = openerOf(process.platform, env);
  if (opener === undefined) return false;
  // A browser passes its environment on: to what it starts, and to whoever gets the reports of its crashes.
  const options = { env: withoutSettings(env), stdio: 'ignore', detached: true } as const;
  const child = spawn(opener, [address], options);
  const isStarted = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  // The browser goes on when the command ends.
  child.unref();
  return isStarted;
}
