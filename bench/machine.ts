/** What a figure must be read beside. */
import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { measureSyncMicros, type Postgres } from './database.ts';

export interface Host {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
}

export interface Machine extends Host {
  readonly postgres: string;
  readonly express: string;
  readonly bullmq: string;
  /** Median of a durable write of 8 kB where the database lies. */
  readonly syncMicros: number;
}

export function describeMachine(postgres: Postgres, folder: string): Machine {
  return {
    ...describeHost(),
    postgres: postgres.version,
    express: versionOf('express'),
    bullmq: versionOf('bullmq'),
    syncMicros: measureSyncMicros(folder),
  };
}

export function describeHost(): Host {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
  };
}

function versionOf(name: string): string {
  const file = join(packageRoot(), 'node_modules', name, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { readonly version?: string };
  return manifest.version ?? 'unknown';
}
