/** A copy of the sources, in which mistakes are made. The checkout is never changed. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Copy {
  readonly root: string;
  read(file: string): string;
  write(file: string, source: string): void;
  remove(): void;
}

/** Copies what git knows or could add, as it is now. There is no dist/: it would have no mistakes. */
export function copySources(checkout: string): Copy {
  const root = mkdtempSync(path.join(tmpdir(), 'tallyhook-mistakes-'));
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: checkout, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  for (const file of listed.split('\0')) {
    const source = path.join(checkout, file);
    if (file === '' || !existsSync(source)) continue;
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    cpSync(source, path.join(root, file), { verbatimSymlinks: true });
  }
  symlinkSync(path.join(checkout, 'node_modules'), path.join(root, 'node_modules'));
  return {
    root,
    read: (file) => readFileSync(path.join(root, file), 'utf8'),
    write: (file, source) => writeFileSync(path.join(root, file), source),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
