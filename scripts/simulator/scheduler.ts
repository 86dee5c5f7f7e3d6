/**
 * One seeded scheduler in virtual time.
 *
 * Terms. *Step*: something that happens at an instant: a statement is executed, a reply arrives, a timer ends.
 * *Actor*: one run of a process. *Life*: everything from an empty database to the judgment of the oracle.
 *
 * 1. Nothing waits for real time. Steps run one after the other, in the order of their virtual times.
 * 2. Which of several steps is first follows from delays that are drawn from the seed. Every wait of the
 *    program for the model is such a delay, so one seed decides every interleaving.
 * 3. After a step, the program runs until it waits for the model again, and only then the next step runs.
 * 4. A step of an actor that was killed does not run: its memory is lost.
 */
import type { Random } from './random.ts';

/** One run of a process. */
export interface Actor {
  readonly name: string;
  readonly random: Random;
  isAlive: boolean;
  /** Ends what waits for a signal. */
  readonly closing: AbortController;
}

interface Step {
  readonly atMs: number;
  readonly serial: number;
  readonly actor: Actor | undefined;
  readonly run: () => void;
  /** It continues the program, which then runs until it waits again. */
  readonly continues: boolean;
}

export interface Scheduler {
  nowMs(): number;
  /** The actor that runs now. */
  current(): Actor | undefined;
  /** Runs what happens in the model, and continues nothing in the program. */
  inModel(delayMs: number, run: () => void): void;
  /** Continues an actor, unless it was killed by then. @returns what cancels it */
  inActor(actor: Actor | undefined, delayMs: number, run: () => void): () => void;
  /** Runs all steps up to a time. */
  run(untilMs: number): Promise<void>;
  steps(): number;
}

/**
 * Runs `turn` when the program waits for nothing but the model: Node.js runs a tick that a microtask adds after
 * all microtasks. A turn of the event loop would do the same, and takes ten times as long.
 */
function afterMicrotasks(turn: () => void): void {
  queueMicrotask(() => process.nextTick(turn));
}

export function createScheduler(startMs: number): Scheduler {
  const heap: Step[] = [];
  let [nowMs, serial, steps] = [startMs, 0, 0];
  let current: Actor | undefined;

  const add = (delayMs: number, actor: Actor | undefined, continues: boolean, run: () => void) => {
    serial += 1;
    push(heap, { atMs: nowMs + delayMs, serial, actor, run, continues });
  };
  /** @returns whether the program continues after it */
  const runNext = (step: Step): boolean => {
    nowMs = Math.max(nowMs, step.atMs);
    if (step.actor && !step.actor.isAlive) return false;
    steps += 1;
    current = step.actor;
    step.run();
    return step.continues;
  };
  /** @returns whether no step is left until then; false: the program continues first */
  const runUntilContinued = (untilMs: number): boolean => {
    for (let step = heap[0]; step && step.atMs <= untilMs; step = heap[0]) {
      pop(heap);
      if (runNext(step)) return false;
    }
    nowMs = Math.max(nowMs, untilMs);
    return true;
  };
  return {
    nowMs: () => nowMs,
    current: () => current,
    steps: () => steps,
    inModel: (delayMs, run) => add(delayMs, undefined, false, run),
    inActor: (actor, delayMs, run) => {
      let isCanceled = false;
      const unlessCanceled = () => {
        if (!isCanceled) run();
      };
      add(delayMs, actor, true, unlessCanceled);
      return () => {
        isCanceled = true;
      };
    },
    run: (untilMs) =>
      new Promise((resolve, reject) => {
        const turn = (): void => {
          try {
            const isOver = runUntilContinued(untilMs);
            if (isOver) resolve();
            else afterMicrotasks(turn);
          } catch (error) {
            reject(error);
          }
        };
        afterMicrotasks(turn);
      }),
  };
}

function isBefore(a: Step, b: Step): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.serial < b.serial);
}

function push(heap: Step[], step: Step): void {
  let place = heap.length;
  heap.push(step);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(step, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = step;
}

function pop(heap: Step[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child += 1;
    const least = heap[child];
    if (least === undefined || !isBefore(least, last)) break;
    heap[place] = least;
    place = child;
  }
  heap[place] = last;
}
