/**
 * The style and the script of the pages. Their names contain a digest of their content, so browsers may
 * keep them forever, and load the new ones after an upgrade.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../platform/packageRoot.ts';

export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly content: Buffer;
}

export interface Assets {
  readonly css: Asset;
  readonly js: Asset;
}

const FOLDER = 'src/pages/browser';

export function readAssets(): Assets {
  return {
    css: readAsset('console', { ending: 'css', type: 'text/css; charset=utf-8' }),
    js: readAsset('console', { ending: 'js', type: 'text/javascript; charset=utf-8' }),
  };
}

function readAsset(
  name: string,
  { ending, type }: { readonly ending: string; readonly type: string },
): Asset {
  const content = readFileSync(join(packageRoot(), FOLDER, `${name}.${ending}`));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: `/assets/${name}-${digest}.${ending}`, type, content };
}
