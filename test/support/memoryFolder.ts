/** Where tests keep data folders of servers. */
import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** Several times what the databases and write-ahead logs of all workers take. */
const MEMORY_BYTES = 8 * 1024 ** 3;

/**
 * A folder in memory where there is room, otherwise one on disk: the suite creates and drops a thousand
 * databases, which is work on files, and costs half as much in memory. Programs may not be executable in it.
 */
export function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > MEMORY_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
