/** Runs a command of Tallyhook and watches how much memory it holds. Linux only: reads /proc. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/packageRoot.ts';

export interface Watched {
  readonly exitCode: number;
  readonly seconds: number;
  readonly peakMib: number;
  /** Resident memory at each tenth of the run. */
  readonly tenthsMib: readonly number[];
  readonly output: string;
}

const SAMPLE_EVERY_MS = 200;

export async function runWatched(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Watched> {
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'tallyhook.js'), ...args], {
    env: { ...env, PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const startMs = performance.now();
  const samplesMib: number[] = [];
  let peakMib = 0;
  const timer = setInterval(() => {
    const memory = readMemory(child.pid);
    if (!memory) return;
    samplesMib.push(memory.residentMib);
    // A process that has just ended shows no memory.
    peakMib = Math.max(peakMib, memory.peakMib);
  }, SAMPLE_EVERY_MS);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  return {
    exitCode: exitCode ?? 1,
    seconds: (performance.now() - startMs) / 1_000,
    peakMib,
    tenthsMib: Array.from(
      { length: 10 },
      (_, n) => samplesMib[Math.floor((samplesMib.length * (n + 1)) / 10) - 1] ?? 0,
    ),
    output,
  };
}

function readMemory(pid: number | undefined) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mib = (field: string) =>
      Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024;
    return { residentMib: mib('VmRSS'), peakMib: mib('VmHWM') };
  } catch {
    // It has just ended, or this is no Linux: there is nothing to read.
    return undefined;
  }
}
