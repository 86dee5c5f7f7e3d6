/**
 * Builds the documentation site: `npm run site -- FOLDER [BASE]`. BASE is the path at which it will be served, `/`
 * by default. A link without a target fails the build.
 */
import { buildSite } from './site/buildSite.ts';

const [folder, base = '/'] = process.argv.slice(2);
if (folder === undefined || !/^\/(?:.*\/)?$/.test(base)) {
  process.stderr.write(
    'Usage: npm run site -- FOLDER [BASE], such as `npm run site -- site /docs/`\n',
  );
  process.exitCode = 2;
} else {
  buildSite(folder, base);
}
