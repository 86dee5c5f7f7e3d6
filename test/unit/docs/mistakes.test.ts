/** The list of scripts/check-mistakes.sh, which runs before a release only: it is of the code as it is now. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { AREAS } from '../../../scripts/mistakes/areas/index.ts';
import { type Mistake, problemOf, withMistake } from '../../../scripts/mistakes/mistake.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';

const root = packageRoot();

test.each(AREAS)('each mistake of $name fits the code, and its tests exist', ({ mistakes }) => {
  const problems = mistakes.flatMap((mistake) => {
    const source = readFileSync(join(root, mistake.file), 'utf8');
    const problem = problemOf(mistake, source) ?? syntaxErrorOf(mistake, source);
    const hasTest = existsSync(join(root, mistake.test));
    return [...(problem ? [problem] : []), ...(hasTest ? [] : [`there is no ${mistake.test}`])];
  });
  expect(mistakes).not.toEqual([]);
  expect(problems).toEqual([]);
});

/** A file that does not load notices any mistake. */
function syntaxErrorOf(mistake: Mistake, source: string): string | undefined {
  const { file, guarantee } = mistake;
  if (!/\.tsx?$/.test(file)) return undefined;
  const [error] = parseSync(file, withMistake(mistake, source)).errors;
  return error && `${file}: ${error.message}, with the mistake of: ${guarantee}`;
}
