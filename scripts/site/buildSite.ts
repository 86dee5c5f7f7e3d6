/** Builds the documentation site with VitePress, which is installed apart from the checkout's dependencies. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageRoot, packageVersion } from '../../src/platform/packageRoot.ts';
import { convertPage, pageOf, servedAs, sidebarOf, type Target } from './pages.ts';

const root = packageRoot();
/** Within node_modules, so that a fresh `npm ci` removes it and nothing else reads it. */
const WORKSPACE = join(root, 'node_modules', '.cache', 'tallyhook-site');
const OWN_FILES = ['package.json', 'package-lock.json'];
const AT_TOP = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/**
 * @param folder receives the site
 * @param base the path at which it will be served
 */
export function buildSite(folder: string, base: string): void {
  install();
  const source = join(WORKSPACE, 'source');
  rmSync(source, { recursive: true, force: true });
  writePages(source);
  mkdirSync(join(source, '.vitepress'));
  const config = configOf(base, resolve(folder));
  writeFileSync(
    join(source, '.vitepress', 'config.mjs'),
    `export default ${JSON.stringify(config, null, 2)}\n`,
  );
  run(process.execPath, [
    join('node_modules', 'vitepress', 'bin', 'vitepress.js'),
    'build',
    'source',
  ]);
}

/** Installs what the lockfile names, unless it is there. */
function install(): void {
  mkdirSync(WORKSPACE, { recursive: true });
  const isCurrent = OWN_FILES.every((name) => {
    const installed = join(WORKSPACE, name);
    return (
      existsSync(installed) &&
      readFileSync(installed).equals(readFileSync(join(root, 'scripts', 'site', name)))
    );
  });
  if (isCurrent && existsSync(join(WORKSPACE, 'node_modules', '.package-lock.json'))) return;
  for (const name of OWN_FILES) {
    copyFileSync(join(root, 'scripts', 'site', name), join(WORKSPACE, name));
  }
  run('npm', ['ci', '--no-audit', '--no-fund']);
}

/** @throws Error if the command fails */
function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: WORKSPACE, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

function writePages(source: string): void {
  const files = [...AT_TOP, ...filesIn('docs', '.md'), ...filesIn('examples', '.md')];
  const pages = new Set(files);
  const find = (path: string): Target | undefined => targetOf(path.replace(/\/$/, ''), pages);
  const linked = new Map<string, Target>();
  for (const file of files) {
    const page = convertPage(file, readFileSync(join(root, file), 'utf8'), find);
    write(join(source, pageOf(file)), page.text);
    for (const target of page.linked) linked.set(target.path, target);
  }
  for (const { kind, path } of linked.values()) {
    if (kind === 'folder') write(join(source, path, 'index.md'), listingOf(path));
    else copyFile(path, join(source, 'public', servedAs(path)));
  }
  cpSync(join(root, 'docs', 'pictures'), join(source, 'docs', 'pictures'), { recursive: true });
}

function targetOf(path: string, pages: ReadonlySet<string>): Target | undefined {
  if (pages.has(path)) return { kind: 'page', path };
  const full = join(root, path);
  if (!existsSync(full)) return undefined;
  return { kind: statSync(full).isDirectory() ? 'folder' : 'file', path };
}

/** A page with the files of a folder to which the documentation links. */
function listingOf(folder: string): string {
  const files = filesIn(folder, '');
  const sections = files.map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return `## ${file.slice(folder.length + 1)}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`;
  });
  return `# ${folder}\n\n${sections.join('\n')}`;
}

function filesIn(folder: string, ending: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function copyFile(path: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(root, path), to);
}

function configOf(base: string, outDir: string): object {
  const sidebar = sidebarOf(readFileSync(join(root, 'docs', 'README.md'), 'utf8'));
  const version = packageVersion();
  return {
    title: 'Tallyhook',
    description: 'Webhook receiver and reconciliation worker for shops that take payments',
    lang: 'en-US',
    base,
    outDir,
    cleanUrls: false,
    lastUpdated: false,
    // Examples have addresses of this machine. Any other link without a target fails the build.
    ignoreDeadLinks: 'localhostLinks',
    // Braces at the end of a line are text.
    markdown: { attrs: { disable: true } },
    themeConfig: {
      search: { provider: 'local' },
      outline: [2, 3],
      sidebar,
      nav: [
        ...sidebar.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
        { text: `Version ${version}`, link: '/docs/CHANGELOG' },
      ],
    },
  };
}
