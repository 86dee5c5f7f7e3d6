/** deploy/image names what the program and its package have. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SERVER_PACKAGE } from '../../../scripts/pack/packages.ts';
import { SETTINGS } from '../../../src/config/config.ts';
import { startHealthServer } from '../../../src/platform/healthServer.ts';
import { createMetrics } from '../../../src/platform/metrics.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { imageEntrypoint, isSetting, procfile, readDeployed } from './program.ts';

const dockerfile = readDeployed('image/Dockerfile').replaceAll('\\\n', ' ');
const runtime = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

const argumentsOf = (instruction: string): string =>
  new RegExp(`^${instruction} (.+)$`, 'm').exec(runtime)?.[1] ?? '';

const environment = Object.fromEntries(
  argumentsOf('ENV')
    .split(' ')
    .map((entry) => entry.split('=') as [string, string]),
);

test('it runs as a user that is not root, by number', () => {
  expect(argumentsOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test('it runs the command of the package', () => {
  expect(`${imageEntrypoint().join(' ')} migrate`).toBe(procfile().release);
  expect(Object.values(SERVER_PACKAGE.bin)).toContain(`./${imageEntrypoint()[1]}`);
});

test('it sets settings that exist, and exposes the ports of the program', () => {
  const { NODE_ENV: _, ...settings } = environment;
  expect(Object.keys(settings).filter((name) => !isSetting(name))).toEqual([]);
  const { PORT, ADMIN_PORT } = SETTINGS.parse({});
  expect(argumentsOf('EXPOSE').split(' ').map(Number)).toEqual([
    PORT,
    ADMIN_PORT,
    Number(settings.METRICS_PORT),
  ]);
});

test('the build context has every file that the package is made of', () => {
  const admitted = [...readDeployed('image/Dockerfile.dockerignore').matchAll(/^!(.+)$/gm)].map(
    ([, path = '']) => path,
  );
  const needed = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts',
    ...Object.values(SERVER_PACKAGE.files),
    ...SERVER_PACKAGE.sources,
  ];
  const isAdmitted = (path: string): boolean =>
    admitted.some((one) => path === one || path.startsWith(`${one}/`));
  expect(needed.filter((path) => !isAdmitted(path))).toEqual([]);
  expect(admitted.filter((path) => !existsSync(join(packageRoot(), path)))).toEqual([]);
});

/** The exit code of the health check while the health port is `port`. */
async function checkHealth(port: number): Promise<number> {
  const [, json = ''] = /^HEALTHCHECK .* CMD (\[.+\])$/m.exec(runtime) ?? [];
  const [command = '', ...args] = JSON.parse(json) as string[];
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, METRICS_PORT: `${port}` },
  });
  const [code] = (await once(child, 'exit')) as [number];
  return code;
}

test('the health check passes while the health port responds, and fails when it does not', async () => {
  const readiness = async () => ({ ready: false, degraded: true, checks: {} });
  const server = await startHealthServer(
    { metrics: createMetrics(), readiness },
    { host: '127.0.0.1', port: 0 },
  );
  let isOpen = true;
  onTestFinished(async () => {
    if (isOpen) await server.close();
  });
  expect(await checkHealth(server.port)).toBe(0);
  await server.close();
  isOpen = false;
  expect(await checkHealth(server.port)).toBe(1);
});
