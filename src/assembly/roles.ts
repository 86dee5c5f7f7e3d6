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

/** The role of the database that each needs. The sandbox creates a schema of its own, as its owner. */
export const DATABASE_ROLES: Readonly<Record<Role, string | undefined>> = {
  receiver: 'tallyhook_receiver',
  events: 'tallyhook_app',
  reconcile: 'tallyhook_app',
  alerts: 'tallyhook_app',
  scheduler: 'tallyhook_app',
  console: 'tallyhook_console',
  sandbox: undefined,
};

/** The roles that run by default. */
export function defaultRoles(config: Config): ReadonlySet<Role> {
  return new Set(ROLES.filter((role) => role !== 'sandbox' || usesSandbox(config)));
}
