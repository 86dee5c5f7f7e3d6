/** Which roles nobody has. */

interface Reported {
  readonly roles: readonly string[];
  /** Whether the process reported a short time ago. */
  readonly isSeen: boolean;
}

/** Roles that no process has, though one had them that did not stop cleanly. */
export function missingRoles(processes: readonly Reported[]): readonly string[] {
  const running = new Set(processes.filter(({ isSeen }) => isSeen).flatMap(({ roles }) => roles));
  const known = new Set(processes.flatMap(({ roles }) => roles));
  return [...known].filter((role) => !running.has(role)).toSorted();
}
