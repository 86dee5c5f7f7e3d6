/** How much memory a process holds, from /proc, which only Linux has. */
import { readFileSync } from 'node:fs';

export function memoryMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}
