/** Why a run ends before its end. It keeps its checkpoint, and mostly a later run resumes there. */

/** A run cannot continue for now; nothing is wrong with what it compared. */
export class RunInterrupted extends Error {
  override readonly name: string = 'RunInterrupted';
}

/** The service cannot be used, for a reason that concerns every request. */
export class ServiceUnusable extends RunInterrupted {
  override readonly name = 'ServiceUnusable';
}

/** A person stopped this run. No later run resumes it. */
export class RunStopped extends RunInterrupted {
  override readonly name = 'RunStopped';
  constructor() {
    super('a person stopped the run');
  }
}

/** Another process resumed this run and got further, or ended it. */
export class RunTakenOver extends RunInterrupted {
  override readonly name = 'RunTakenOver';
  constructor() {
    super('another process continues the run');
  }
}

/** An operator paused reconciliation. */
export class RunPaused extends RunInterrupted {
  override readonly name = 'RunPaused';
  constructor() {
    super('reconciliation is paused');
  }
}
