/**
 * `node dist/scripts/packageRegistry.js FOLDER UPSTREAM`, for scripts/check-manual.sh: a registry on a free port of the
 * loopback interface. It has the packages of the tarballs in the folder, and redirects every other request to the
 * registry UPSTREAM. Prints its address.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const [folder, upstream] = process.argv.slice(2);
if (folder === undefined || upstream === undefined)
  throw new Error('Name a folder and a registry.');

interface Manifest {
  readonly name: string;
  readonly version: string;
}

const manifests = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => [file, readManifest(join(folder, file))] as const),
);

const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url ?? '/').slice(1);
  const base = `http://${request.headers.host}/`;
  for (const [file, manifest] of manifests) {
    if (path === file) return void response.end(readFileSync(join(folder, file)));
    if (path === manifest.name) return void response.end(describe(base, file, manifest));
  }
  response.writeHead(307, { location: new URL(request.url?.slice(1) ?? '', upstream).href }).end();
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}/`);
});

function readManifest(tarball: string): Manifest {
  const text = execFileSync('tar', ['-xOzf', tarball, 'package/package.json'], {
    encoding: 'utf8',
  });
  return JSON.parse(text) as Manifest;
}

/** What npm reads of a package. */
function describe(base: string, file: string, manifest: Manifest): string {
  const { name, version } = manifest;
  const hash = createHash('sha512').update(readFileSync(join(folder ?? '', file)));
  const dist = { tarball: `${base}${file}`, integrity: `sha512-${hash.digest('base64')}` };
  return JSON.stringify({
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } },
  });
}
