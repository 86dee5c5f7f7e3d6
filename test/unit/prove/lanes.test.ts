/** The numbers are the rules of scripts/prove/lanes.ts. */
import { expect, test } from 'vitest';
import { runInLanes } from '../../../scripts/prove/lanes.ts';
import type { PartRun } from '../../../scripts/prove/options.ts';
import { measuresSpeed, PARTS } from '../../../scripts/prove/parts.ts';

const RUNS = PARTS.map((part): PartRun => ({ part, count: 1 }));
const ALONE = PARTS.filter(measuresSpeed).map(({ name }) => name);
const TOGETHER = PARTS.filter((part) => !measuresSpeed(part)).map(({ name }) => name);

/** Runs every part, each until all that can begin have begun, and ends the one that began first. */
async function runAll(isHeld: (name: string) => boolean) {
  const begun: string[] = [];
  const besides: (readonly string[])[] = [];
  const running = new Map<string, (isHeld: boolean) => void>();
  const held = runInLanes(RUNS, ({ part: { name } }) => {
    begun.push(name);
    return new Promise<boolean>((resolve) => running.set(name, resolve));
  });
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const [first] = running;
    if (first === undefined) break;
    besides.push([...running.keys()]);
    const [name, end] = first;
    running.delete(name);
    end(isHeld(name));
  }
  return { begun, besides, held: await held };
}

test('parts that measure speed run first and alone, then the others three at a time, the last of the list first [1, 2]', async () => {
  const { begun, besides, held } = await runAll(() => true);
  expect(begun).toEqual([...ALONE, ...TOGETHER.toReversed()]);
  expect(besides.slice(0, ALONE.length)).toEqual(ALONE.map((name) => [name]));
  const sizes = besides.slice(ALONE.length).map(({ length }) => length);
  expect(sizes).toEqual([...TOGETHER.slice(2).map(() => 3), 2, 1]);
  expect(held).toBe(true);
});

test.each([ALONE[0] ?? '', TOGETHER[0] ?? '', TOGETHER.at(-1) ?? ''])(
  'a guarantee that %s breaks is reported, and every other part runs [3]',
  async (broken) => {
    const { begun, held } = await runAll((name) => name !== broken);
    expect(begun.toSorted()).toEqual([...ALONE, ...TOGETHER].toSorted());
    expect(held).toBe(false);
  },
);
