/** What a process may do. Roles share what they can: one process may have all of them, or each its own. */
import type { Config } from '../config/config.ts';
import { usesSandbox } from './settings.ts';

export const ROLES = [
  'receiver',
  'events',
  'reconcile',
  'alerts',
  'scheduler',
  'console',
  'sandbox',
] as const;

export type Role = (typeof ROLES)[number];

/** The roles that run when nobody chose any. */
export function defaultRoles(config: Config): ReadonlySet<Role> {
  return new Set(ROLES.filter((role) => role !== 'sandbox' || usesSandbox(config)));
}
