/** `npm run pack -- FOLDER`: writes a tarball of each package, and prints what it holds. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PACKAGES } from './pack/packages.ts';
import { stagePackage, writeTarball } from './pack/stagePackage.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Where to? Run: npm run pack -- FOLDER');
  process.exit(2);
}

const target = resolve(folder);
mkdirSync(target, { recursive: true });
for (const definition of PACKAGES) {
  const stage = mkdtempSync(join(tmpdir(), 'tallyhook-pack-'));
  try {
    await stagePackage(definition, stage);
    const { file, files, packedBytes, unpackedBytes } = await writeTarball(stage, target);
    console.log(
      `${file}: ${files} files, ${kilobytes(packedBytes)} kB packed, ${kilobytes(unpackedBytes)} kB unpacked`,
    );
  } finally {
    rmSync(stage, { recursive: true });
  }
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1000);
}
