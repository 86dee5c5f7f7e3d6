/** Reports banned words in sources, tests and documentation: `npm run words [-- PATH…]`. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/packageRoot.ts';
import { findBannedUses, isExempt, readBannedWords } from './words/bannedWords.ts';

const LIST = 'docs/banned-words.txt';
/** `migrations/` is not among them: a migration that was applied is never edited. */
const PLACES = ['src', 'workers', 'bench', 'scripts', 'test', 'docs', 'bin', 'examples', '.'];
const READ = /(\.([cm]?ts|mjs|js|md|sh|yml)|\.env\.example|Procfile)$/;

const root = packageRoot();
const bannedWords = readBannedWords(readFileSync(join(root, LIST), 'utf8'));
const named = process.argv.slice(2);

const errors = filesToRead()
  // A path on the command line is checked even if it is exempt: this is how to see what is left.
  .filter((path) => named.some((place) => isBelow(path, place)) || !isExempt(path, bannedWords))
  .flatMap((path) =>
    findBannedUses(readFileSync(join(root, path), 'utf8'), bannedWords).map(
      ({ line, word, use }) => `${path}:${line}: "${word}" is a banned word. Use: ${use}`,
    ),
  );
for (const error of errors) console.error(error);
if (errors.length > 0) {
  console.error(`${errors.length} banned words. ${LIST} has the list and its exemptions.`);
  process.exitCode = 1;
}

function filesToRead(): readonly string[] {
  const all = PLACES.flatMap((place) =>
    readdirSync(join(root, place), { recursive: place !== '.', encoding: 'utf8' }).map((file) =>
      join(place, file),
    ),
  )
    // Of an example that somebody has installed.
    .filter((path) => !path.includes('node_modules'))
    .filter((path) => READ.test(path) && statSync(join(root, path)).isFile());
  return named.length === 0 ? all : all.filter((path) => named.some((one) => isBelow(path, one)));
}

function isBelow(path: string, place: string): boolean {
  const folder = place.replace(/\/$/, '');
  return path === folder || path.startsWith(`${folder}/`);
}
