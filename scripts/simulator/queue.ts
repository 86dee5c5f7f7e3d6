/**
 * The model of a queue of BullMQ: a hint, as in src/platform/queue.
 *
 * 1. A job that fails is retried after a backoff, and is dropped after its last attempt.
 * 2. A job of a worker that was killed is handed to another one, marked as abandoned. So is, sometimes, a job
 *    of a worker that lives: its lock ran out.
 * 3. The queue may be unreachable, and may lose all its jobs.
 */
import type { NewJob, Producer, RunningJob } from '../../src/platform/queue/index.ts';
import { integer, type Random } from './random.ts';
import type { Actor, Scheduler } from './scheduler.ts';

interface Job {
  readonly job: NewJob<unknown>;
  attempts: number;
  state: 'waiting' | 'active' | 'delayed';
  wasAbandoned: boolean;
  holder: Actor | undefined;
}

interface Worker {
  readonly actor: Actor;
  readonly concurrency: number;
  readonly handle: (job: RunningJob<never>) => Promise<void>;
  running: number;
}

export interface QueueParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly delayMs: () => number;
  readonly trace: (line: () => string) => void;
}

/** A worker that was killed holds its jobs for this long. */
const LOCK_MS = 30_000;

export class ModelQueue {
  readonly #parts: QueueParts;
  readonly #workers: Worker[] = [];
  #jobs: Job[] = [];
  #unreachableUntilMs = 0;

  constructor(parts: QueueParts) {
    this.#parts = parts;
  }

  producer<Data>(actor: Actor): Producer<Data> {
    return {
      add: (jobs) => this.#request(actor, () => this.#add(jobs)),
      countJobs: () =>
        this.#request(actor, () => {
          return {
            waiting: this.#count('waiting'),
            active: this.#count('active'),
            delayed: this.#count('delayed'),
          };
        }),
      close: () => Promise.resolve(),
    };
  }

  consume<Data>(
    actor: Actor,
    concurrency: number,
    handle: (job: RunningJob<Data>) => Promise<void>,
  ): void {
    this.#workers.push({ actor, concurrency, handle: handle as Worker['handle'], running: 0 });
    this.#dispatch();
  }

  loseEverything(): void {
    this.#jobs = [];
  }

  beUnreachable(forMs: number): void {
    this.#unreachableUntilMs = this.#parts.scheduler.nowMs() + forMs;
  }

  /** The locks of running jobs run out. */
  loseLocks(): void {
    this.#abandon(({ state }) => state === 'active');
  }

  /** Hands the jobs of an actor that was killed to others, once their locks have run out. */
  forget(actor: Actor): void {
    this.#parts.scheduler.inModel(LOCK_MS, () => this.#abandon(({ holder }) => holder === actor));
  }

  #count(state: Job['state']): number {
    return this.#jobs.filter((job) => job.state === state).length;
  }

  /** A request to the queue, and its reply. */
  #request<T>(actor: Actor, work: () => T): Promise<T> {
    const { scheduler, delayMs } = this.#parts;
    return new Promise((resolve, reject) => {
      scheduler.inModel(delayMs(), () => {
        const isReachable = scheduler.nowMs() >= this.#unreachableUntilMs;
        const result = isReachable ? work() : undefined;
        scheduler.inActor(actor, delayMs(), () => {
          if (isReachable) resolve(result as T);
          else reject(new Error('the queue is unreachable'));
        });
      });
    });
  }

  #add(jobs: readonly NewJob<unknown>[]): void {
    for (const job of jobs) {
      const one: Job = {
        job,
        attempts: 0,
        state: 'waiting',
        wasAbandoned: false,
        holder: undefined,
      };
      this.#jobs.push(one);
      if (job.delayMs) this.#delay(one, job.delayMs);
    }
    this.#dispatch();
  }

  #delay(job: Job, ms: number): void {
    job.state = 'delayed';
    this.#parts.scheduler.inModel(ms, () => {
      if (job.state === 'delayed') job.state = 'waiting';
      this.#dispatch();
    });
  }

  #abandon(which: (job: Job) => boolean): void {
    for (const job of this.#jobs.filter(which)) {
      job.state = 'waiting';
      job.holder = undefined;
      job.wasAbandoned = true;
    }
    this.#dispatch();
  }

  #dispatch(): void {
    for (const job of this.#jobs) {
      if (job.state !== 'waiting') continue;
      const free = this.#workers.filter(
        ({ actor, running, concurrency }) => actor.isAlive && running < concurrency,
      );
      const worker = free[integer(this.#parts.random, 0, Math.max(0, free.length - 1))];
      if (worker === undefined) return;
      this.#begin(worker, job);
    }
  }

  #begin(worker: Worker, job: Job): void {
    const { scheduler, delayMs, trace } = this.#parts;
    const { actor, handle } = worker;
    job.state = 'active';
    job.holder = actor;
    worker.running += 1;
    scheduler.inActor(actor, delayMs(), () => {
      const { name, data, attempts } = job.job;
      const isLastAttempt = job.attempts + 1 >= attempts;
      trace(() => `${actor.name} begins the job ${name} ${JSON.stringify(data)}`);
      const running = { name, data, wasAbandoned: job.wasAbandoned, isLastAttempt };
      const end = (isDone: boolean) => {
        worker.running -= 1;
        if (job.holder === actor && job.state === 'active') this.#settle(job, isDone);
        this.#dispatch();
      };
      handle(running as RunningJob<never>).then(
        () => end(true),
        () => end(false),
      );
    });
  }

  #settle(job: Job, isDone: boolean): void {
    const { attempts, backoffMs } = job.job;
    job.holder = undefined;
    job.attempts += 1;
    if (isDone || job.attempts >= attempts) this.#jobs = this.#jobs.filter((one) => one !== job);
    else this.#delay(job, backoffMs * 2 ** (job.attempts - 1) * (0.5 + this.#parts.random() / 2));
  }
}
