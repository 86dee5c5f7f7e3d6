/** How much memory a process holds, from /proc, which only Linux has. */
import { readFileSync } from 'node:fs';

export function memoryMib(pid: number): number {
  return readMib(pid, 'VmRSS');
}

/** The most that it held since it began; undefined once it has ended. */
export function peakMemoryMib(pid: number): number | undefined {
  try {
    const mib = readMib(pid, 'VmHWM');
    // A process that has ended and was not waited for holds nothing.
    return Number.isNaN(mib) ? undefined : mib;
  } catch {
    return undefined;
  }
}

function readMib(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}
