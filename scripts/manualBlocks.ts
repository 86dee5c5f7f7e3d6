/**
 * `node dist/scripts/manualBlocks.js FOLDER`, for scripts/check-manual.sh: writes the blocks that it executes, and
 * how many blocks are checked in another way.
 *
 * - `blocks.tsv` has a line for each: page, line, file of the code, and the text that ends it, if any.
 * - `counts.tsv` has a line for each way: way, number of blocks.
 * - `cannot.tsv` has what is executed nowhere: place, reason.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { groupBy } from '../src/platform/collections.ts';
import { type Block, manualBlocks, where, withExamples } from './manual/blocks.ts';

const OWN = 'scripts/check-manual.sh';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('Where to? Name a folder.');
const folder = resolve(target);
mkdirSync(folder, { recursive: true });

const blocks = manualBlocks().filter(({ isHidden }) => !isHidden);

writeTable(
  'blocks.tsv',
  blocks
    .filter(({ attributes }) => attributes.by === OWN)
    .map((block, index) => {
      const file = join(folder, `${index + 1}.sh`);
      writeFileSync(file, `${withExamples(block)}\n`);
      return [block.page, block.line, file, block.attributes.until ?? ''];
    }),
);
const counts = groupBy(blocks, wayOf);
writeTable(
  'counts.tsv',
  [...counts].map(([way, { length }]) => [way, length]),
);
writeTable(
  'cannot.tsv',
  blocks.flatMap((block) =>
    block.attributes.cannot === undefined ? [] : [[where(block), block.attributes.cannot]],
  ),
);

function wayOf({ way, attributes }: Block): string {
  if (way !== 'by') return way;
  return attributes.by === OWN ? OWN : 'test';
}

function writeTable(name: string, rows: readonly (readonly (string | number)[])[]): void {
  writeFileSync(join(folder, name), rows.map((row) => `${row.join('\t')}\n`).join(''));
}
