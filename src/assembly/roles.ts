/** The roles of a process. One process can have all roles, or each role its own process. */
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

/** The roles that run by default. */
export function defaultRoles(config: Config): ReadonlySet<Role> {
  return new Set(ROLES.filter((role) => role !== 'sandbox' || usesSandbox(config)));
}
