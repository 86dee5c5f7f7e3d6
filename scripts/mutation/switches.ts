/**
 * The switches of mutants, in the process that runs the tests. Instrumented code reads them through
 * `globalThis.mutation`.
 */

/** Rounds of loops that a mutant may add to those of a test without one. */
const EXTRA_ROUNDS = 200_000;
const TIMES_AS_MANY = 20;

/** Thrown in a loop that a mutant keeps running. */
class EndlessLoop extends Error {}

/** A constant of a module, which was computed when the module was loaded. */
interface Constant {
  readonly file: string;
  /** Its mutants: from the first id to before the last. */
  readonly ids: readonly [first: number, end: number];
  readonly compute: () => unknown;
  readonly assign: (value: unknown) => void;
  readonly value: unknown;
}

class Switches {
  active: number | undefined;
  /** What code that ran without a mutant passed. */
  passed = new Set<number>();
  /** What constants passed. A test that loads a module passes them, and does not depend on them. */
  readonly passedByConstants = new Set<number>();
  readonly constants: Constant[] = [];
  private rounds = 0;
  private mostRounds = Number.POSITIVE_INFINITY;

  is(id: number): boolean {
    if (this.active === undefined) this.passed.add(id);
    return this.active === id;
  }

  count(): void {
    this.rounds += 1;
    if (this.rounds > this.mostRounds) throw new EndlessLoop('a loop of this mutant does not end');
  }

  /** Computes a constant of a module, so that it can be computed again with a mutant. */
  constant<Value>(
    { file, ids }: Pick<Constant, 'file' | 'ids'>,
    compute: () => Value,
    assign: (value: Value) => void,
  ): Value {
    const outside = this.passed;
    this.passed = this.passedByConstants;
    const value = compute();
    this.passed = outside;
    this.constants.push({ file, ids, compute, assign: assign as Constant['assign'], value });
    return value;
  }

  /** Begins a run without a mutant. @returns ends it, with what it passed */
  record(): () => { readonly passed: ReadonlySet<number>; readonly rounds: number } {
    const outside = this.passed;
    this.deactivate();
    this.passed = new Set();
    this.rounds = 0;
    return () => {
      const result = { passed: this.passed, rounds: this.rounds };
      this.passed = outside;
      return result;
    };
  }

  /** @param roundsWithout those of the same test without a mutant */
  activate(id: number, roundsWithout: number): void {
    this.active = id;
    this.rounds = 0;
    this.mostRounds = roundsWithout * TIMES_AS_MANY + EXTRA_ROUNDS;
  }

  /** Computes constants again, in their order: those of a module may depend on each other. */
  recompute(constants: readonly Constant[]): void {
    for (const { compute, assign } of constants) assign(compute());
  }

  deactivate(): void {
    this.active = undefined;
    this.mostRounds = Number.POSITIVE_INFINITY;
  }

  restore(constants: readonly Constant[]): void {
    for (const { assign, value } of constants) assign(value);
  }
}

declare global {
  var mutation: Switches | undefined;
}

export function switches(): Switches {
  globalThis.mutation ??= new Switches();
  return globalThis.mutation;
}
