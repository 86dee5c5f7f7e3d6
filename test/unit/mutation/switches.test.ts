/** The switches of mutants in scripts/mutate.sh. */
import { expect, test } from 'vitest';
import { switches } from '../../../scripts/mutation/switches.ts';

test('a test that loads a module passes what it runs, and not what constants of the module need', () => {
  const mutation = switches();
  const end = mutation.record();
  const constant = mutation.constant(
    { file: 'rule.ts', ids: [1, 2] },
    () => (mutation.is(1) ? 'mutant' : 'constant'),
    () => undefined,
  );
  mutation.is(2);
  expect(constant).toBe('constant');
  expect([...end().passed]).toEqual([2]);
  expect([...mutation.passedByConstants]).toEqual([1]);
});
