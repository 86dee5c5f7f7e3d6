/** What src/erasure/keepPlans.ts keeps, and for how long. */
import { beforeEach, expect, test } from 'vitest';
import type { ErasureSubject } from '../../../src/erasure/domain/subjects.ts';
import { type ErasurePlans, keepPlans, type PlanCounts } from '../../../src/erasure/keepPlans.ts';
import { OperatorError } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';

const SUBJECTS: readonly ErasureSubject[] = [{ kind: 'order', id: 'ord_1' }];
const COUNTS: PlanCounts = {
  resources: { payment: 1 },
  events: 2,
  values: 3,
  pending: [],
  dead: [],
  unknown: [],
  running: undefined,
};

interface Making {
  readonly onProgress: (bodies: number) => void;
  readonly end: (made: PlanCounts | Error) => void;
}

let making: Making[];
let lines: string[];
let plans: ErasurePlans;

beforeEach(() => {
  [making, lines] = [[], []];
  plans = keepPlans(
    (_subjects, onProgress) =>
      new Promise((resolve, reject) => {
        const end: Making['end'] = (made) => (made instanceof Error ? reject(made) : resolve(made));
        making.push({ onProgress, end });
      }),
    { clock: { nowMs: () => 7 }, log: createLog('info', (line) => lines.push(line)) },
  );
});

const begin = () => plans.begin(SUBJECTS) ?? '';

/** Ends the plan that began last. */
async function end(made: PlanCounts | Error = COUNTS): Promise<void> {
  making.at(-1)?.end(made);
  await new Promise((resolve) => setImmediate(resolve));
}

test('a plan shows how far it is, and then its counts', async () => {
  const id = begin();
  const plan = { id, subjects: SUBJECTS, startedMs: 7 };
  expect(plans.find(id)).toEqual({ ...plan, now: { state: 'reading', bodies: 0 } });
  making[0]?.onProgress(500);
  expect(plans.find(id)).toEqual({ ...plan, now: { state: 'reading', bodies: 500 } });
  await end();
  expect(plans.find(id)).toEqual({ ...plan, now: { state: 'planned', counts: COUNTS } });
  expect(plans.find('another')).toBeUndefined();
});

test('two plans are made at the same time, and another one when one of them is done', async () => {
  expect([begin(), begin()]).not.toContain('');
  expect(plans.begin(SUBJECTS)).toBeUndefined();
  expect(making).toHaveLength(2);
  await end();
  expect(begin()).not.toBe('');
});

test('twenty plans are kept: the oldest goes, and none that is being made', async () => {
  const reading = begin();
  const done: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    done.push(begin());
    await end();
  }
  expect(plans.find(reading)).toBeDefined();
  expect(done.map((id) => plans.find(id) !== undefined)).toEqual(done.map((_, place) => place > 0));
});

test('a plan that failed states what to do, and the log has a cause that nobody foresaw', async () => {
  const foreseen = begin();
  await end(new OperatorError('Set DATABASE_URL.'));
  expect(plans.find(foreseen)?.now).toEqual({ state: 'failed', message: 'Set DATABASE_URL.' });
  expect(lines).toEqual([]);

  const unforeseen = begin();
  await end(new Error('cannot read ann@example.org'));
  expect(plans.find(unforeseen)?.now).toEqual({
    state: 'failed',
    message: expect.stringContaining('The log of the console has the cause.'),
  });
  expect(lines.join()).toContain('console.erasure_plan_failed');
});
