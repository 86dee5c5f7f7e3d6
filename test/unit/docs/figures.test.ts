import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePage } from '../../../scripts/prove/page.ts';
import { PARTS } from '../../../scripts/prove/parts.ts';
import { outcomeOf, parseReport } from '../../../scripts/prove/report.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const read = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8');

test('the page of figures is written from its JSON; `npm run generate` writes it again', () => {
  const report = parseReport(read('docs/figures.json'));
  expect(read('docs/figures.md')).toBe(writePage(report));
  expect(report.results.filter((result) => outcomeOf(result).outcome !== 'held')).toEqual([]);
});

test('each part runs a test or bench that exists, by the name of a test', () => {
  for (const invocation of PARTS.flatMap((part) => part.invocations(7, 1))) {
    if (invocation.runs === 'bench') {
      const source = invocation.module.replace(/\.js$/, '.ts');
      expect(existsSync(join(packageRoot(), source)), source).toBe(true);
    } else {
      expect(read(invocation.file)).toContain(invocation.named ?? 'recordFigures');
      for (const name of Object.keys(invocation.env)) {
        const sources = [invocation.file, 'test/support/kills.ts', 'test/support/random.ts'];
        expect(sources.map(read).join('\n'), name).toContain(name);
      }
    }
  }
});
