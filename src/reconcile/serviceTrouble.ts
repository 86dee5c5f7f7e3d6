/** What ends a run before its end, without anything being wrong with what it compares. */

/** Trouble that concerns every request: the run ends and goes on from its checkpoint later. */
export class ServiceTrouble extends Error {
  override readonly name: string = 'ServiceTrouble';
}

/** Somebody paused reconciliation: the run ends like by trouble, and nothing is wrong. */
export class Paused extends ServiceTrouble {
  override readonly name = 'Paused';
  constructor() {
    super('reconciliation is paused');
  }
}
