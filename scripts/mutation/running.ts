/**
 * Which test runs, in a file that the process of the tests writes before each run. The process that started it reads
 * the file: it ends a run that passes its limit, as in a loop without an end, and names the test and the mutant.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

export interface Running {
  readonly pid: number;
  readonly file: string;
  readonly test: string;
  /** Undefined without a mutant. */
  readonly mutant?: number | undefined;
  readonly endsByMs: number;
}

/** Of code that never waits, so that no timer of its own process ends it. */
const SPARE_MS = 30_000;

/** Tests replace the clock. */
const { now } = Date;

export function writeRunning(
  path: string,
  { limitMs, ...running }: Omit<Running, 'pid' | 'endsByMs'> & { readonly limitMs: number },
): void {
  const endsByMs = now() + limitMs + SPARE_MS;
  writeFileSync(path, JSON.stringify({ pid: process.pid, ...running, endsByMs }));
}

export function clearRunning(path: string): void {
  rmSync(path, { force: true });
}

/** @returns undefined while nothing runs, and while the file is written */
export function readRunning(path: string): Running | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Ends the process of the tests once a run has passed its limit. @returns stops watching */
export function watchRunning(path: string): () => void {
  const timer = setInterval(() => {
    const running = readRunning(path);
    if (running === undefined || now() < running.endsByMs) return;
    clearInterval(timer);
    process.kill(running.pid, 'SIGKILL');
  }, 1_000);
  return () => {
    clearInterval(timer);
  };
}
