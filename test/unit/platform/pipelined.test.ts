import { describe, expect, it } from 'vitest';
import { pipelined } from '../../../src/platform/db/pipelined.ts';

describe('statements that were sent together', () => {
  it('return their results in the order in which they were sent', async () => {
    expect(await pipelined([Promise.resolve('rows'), undefined, []])).toEqual([
      'rows',
      undefined,
      [],
    ]);
  });

  it('fail with the reason of the first, even if a later one is refused sooner', async () => {
    const first = new Promise((_, reject) => {
      setImmediate(() => reject(new Error('deadlock detected')));
    });
    const later = Promise.reject(new Error('current transaction is aborted'));
    await expect(pipelined([first, later])).rejects.toThrow('deadlock detected');
  });

  it('fail only when none is in flight, so that a rollback is the last statement', async () => {
    let isDone = false;
    const last = new Promise<void>((resolve) => {
      setImmediate(() => {
        isDone = true;
        resolve();
      });
    });
    await expect(pipelined([Promise.reject(new Error('refused')), last])).rejects.toThrow(
      'refused',
    );
    expect(isDone).toBe(true);
  });
});
