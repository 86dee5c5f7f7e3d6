/** Which roles nobody has, and whether a process that has one is ready. */

interface Reported {
  readonly roles: readonly string[];
  /** Whether the process reported a short time ago. */
  readonly isSeen: boolean;
}

/** Whether a process does the work of a role. */
export type RoleState =
  /** One is ready. */
  | 'ready'
  /** Those that report are not ready. */
  | 'not_ready'
  /** None has reported a short time ago. */
  | 'none';

export function roleStateOf(
  processes: readonly (Reported & { readonly isReady: boolean })[],
  role: string,
): RoleState {
  const running = processes.filter(({ isSeen, roles }) => isSeen && roles.includes(role));
  if (running.length === 0) return 'none';
  return running.some(({ isReady }) => isReady) ? 'ready' : 'not_ready';
}

/** Roles that no process has, though one had them that did not stop cleanly. */
export function missingRoles(processes: readonly Reported[]): readonly string[] {
  const running = new Set(processes.filter(({ isSeen }) => isSeen).flatMap(({ roles }) => roles));
  const known = new Set(processes.flatMap(({ roles }) => roles));
  return [...known].filter((role) => !running.has(role)).toSorted();
}
