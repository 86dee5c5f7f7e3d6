/** What the program itself names: the files in deploy/ must name nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../../../src/config/config.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

/** The text of a file in deploy/. */
export function readDeployed(path: string): string {
  return readFileSync(join(packageRoot(), 'deploy', path), 'utf8');
}

/** The command of each process, by its name in the Procfile. */
export function procfile(): Readonly<Record<string, string>> {
  const text = readFileSync(join(packageRoot(), 'Procfile'), 'utf8');
  return Object.fromEntries(
    [...text.matchAll(/^(\w+): (.+)$/gm)].map(([, name = '', command = '']) => [name, command]),
  );
}

/** The processes that run, which is all but the migration before a release. */
export function processes(): Readonly<Record<string, string>> {
  const { release: _, ...others } = procfile();
  return others;
}

export function isSetting(name: string): boolean {
  return Object.hasOwn(SETTINGS.shape, name);
}

/** A process closes within this time after it drained (src/platform/shutdown.ts). */
const CLOSE_SECONDS = 25;

/** Whether a process that is stopped ends by itself in this time, with a value of DRAIN_SECONDS. */
export function endsWithin(seconds: number, drainSeconds: number): boolean {
  return seconds > drainSeconds + CLOSE_SECONDS;
}

/** The largest value that DRAIN_SECONDS accepts. */
export function longestDrainSeconds(): number {
  let seconds = 0;
  while (SETTINGS.shape.DRAIN_SECONDS.safeParse(String(seconds + 1)).success) seconds += 1;
  return seconds;
}

/** The command to which the image adds that of a container. */
export function imageEntrypoint(): readonly string[] {
  const [, json = '[]'] = /^ENTRYPOINT (\[.+\])$/m.exec(readDeployed('image/Dockerfile')) ?? [];
  return JSON.parse(json) as string[];
}
