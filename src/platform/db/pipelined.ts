/**
 * Waits for statements of one transaction that were sent without waiting for each other. The server
 * executes them in the order in which they were sent, so a later one sees what an earlier one wrote,
 * and all of them cost one round trip.
 *
 * Resolves or rejects only when none is in flight. After a failure the server refuses the later
 * statements, each with an error of its own; the first failure in the order of `statements` is the
 * reason, so they must stand in the order in which they were sent.
 * @throws the failure of the first statement that failed
 */
export async function pipelined<const Results extends readonly unknown[]>(
  statements: {
    readonly [Place in keyof Results]: Results[Place] | Promise<Results[Place]>;
  },
): Promise<Results> {
  const outcomes = await Promise.allSettled(statements);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }) as unknown as Results;
}
