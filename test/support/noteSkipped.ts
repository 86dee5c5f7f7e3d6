/** A check that does not run must be seen in the output of a run. */
import { stderr } from 'node:process';

const noted = new Set<string>();

/** Writes, once for a process, that tests are skipped because a program is not installed. */
export function noteSkipped(program: string, tests: string): void {
  const line = `${program} is not installed: ${tests} SKIPPED.\n`;
  if (noted.has(line)) return;
  noted.add(line);
  stderr.write(line);
}
