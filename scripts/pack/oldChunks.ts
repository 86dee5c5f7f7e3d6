/**
 * Which files of earlier builds a build keeps. A chunk is named by its content, and a process loads some of its
 * chunks only when they are needed, such as the pages of the console. So the files of a build stay for a day
 * after the build that replaced it, however old they were then.
 */
import { DAY_MS } from '../../src/platform/time.ts';

export interface BuiltFile {
  readonly name: string;
  /** When a build last wrote it, or replaced the build that wrote it; milliseconds since 1970. */
  readonly mtimeMs: number;
}

export interface OldChunks {
  /** Those of the build that is replaced now: their day begins. */
  readonly replaced: readonly string[];
  /** The time to set for them: before this build, so that the next one does not take them for its files. */
  readonly replacedMs: number;
  /** Those of which the day is over. */
  readonly outdated: readonly string[];
}

/** A build writes all of its files within this time. */
const WRITTEN_WITHIN_MS = 60_000;

/**
 * @param before the files in the folder before this build
 * @param written the names that this build writes
 */
export function oldChunks(
  before: readonly BuiltFile[],
  written: ReadonlySet<string>,
  nowMs: number,
): OldChunks {
  const lastMs = Math.max(...before.map(({ mtimeMs }) => mtimeMs));
  const old = before.filter(({ name }) => !written.has(name));
  const isOfLast = ({ mtimeMs }: BuiltFile) => mtimeMs >= lastMs - WRITTEN_WITHIN_MS;
  return {
    replacedMs: nowMs - 2 * WRITTEN_WITHIN_MS,
    replaced: old.filter(isOfLast).map(({ name }) => name),
    outdated: old
      .filter((file) => !isOfLast(file) && file.mtimeMs < nowMs - DAY_MS)
      .map(({ name }) => name),
  };
}
