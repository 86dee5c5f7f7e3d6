/** What a figure must be read beside: the machine, the versions and the program. */
import { execFileSync } from 'node:child_process';
import { describeHost } from '../../bench/machine.ts';
import { locateBinaries } from '../../src/platform/embeddedPostgres/binaries.ts';
import { packageRoot } from '../../src/platform/packageRoot.ts';
import type { Machine, PartResult } from './report.ts';

export function describeMachine(): Machine {
  const { postgres } = locateBinaries(process.platform, process.arch);
  return {
    ...describeHost(),
    postgres: versionIn(postgres, /PostgreSQL\) (\S+)/),
    redis: versionIn('redis-server', /v=(\S+)/),
  };
}

function versionIn(program: string, pattern: RegExp): string {
  try {
    const text = execFileSync(program, ['--version'], { encoding: 'utf8' });
    return pattern.exec(text)?.[1] ?? 'unknown';
  } catch {
    return 'not installed';
  }
}

/** What the figures are about: a change of documentation or tests does not make them old. */
const PROGRAM = ['src', 'workers', 'migrations', 'package-lock.json'];

/** Outside of a git repository the program is unknown, and therefore modified. */
export function describeProgram(): Pick<PartResult, 'commit' | 'isModified'> {
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...args, '--', ...PROGRAM], { cwd: packageRoot(), encoding: 'utf8' });
  try {
    const commit = git('log', '-1', '--format=%H').trim();
    return { commit, isModified: git('status', '--porcelain').trim() !== '' };
  } catch {
    return { commit: 'unknown', isModified: true };
  }
}
