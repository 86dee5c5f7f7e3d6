/** What each command needs. Every command has an entry; one without is refused. */
import type { Permission } from '../access/domain/roles.ts';

/** `local`: the command touches no ledger, so that no role is needed. */
export type CommandPermission = Permission | 'local';

export const COMMAND_PERMISSIONS: Readonly<Record<string, CommandPermission>> = {
  start: 'administer',
  demo: 'local',
  sandbox: 'local',
  migrate: 'administer',
  sign: 'local',
  send: 'local',
  'orders list': 'read',
  'orders show': 'read',
  'orders parts': 'read',
  'orders explain': 'read',
  'payments list': 'read',
  'payments refund': 'move_money',
  'refunds list': 'read',
  'disputes list': 'read',
  'payouts list': 'read',
  'events list': 'read',
  'events show': 'read',
  'events variants': 'read',
  'events replay': 'operate',
  'events discard': 'operate',
  find: 'read',
  'alerts list': 'read',
  'alerts show': 'read',
  'alerts ack': 'operate',
  'alerts snooze': 'operate',
  'alerts assign': 'operate',
  'alerts test': 'operate',
  'messages list': 'read',
  'messages show': 'read',
  'messages resend': 'operate',
  'authorizations list': 'read',
  'authorizations capture': 'move_money',
  'authorizations cancel': 'move_money',
  reconcile: 'operate',
  refresh: 'refresh',
  'findings list': 'read',
  'findings accept': 'operate',
  'audit list': 'read_audit',
  'audit close': 'move_money',
  erase: 'erase',
  'erasures list': 'read_audit',
  'erasures check': 'erase',
  'sessions list': 'manage_tokens',
  'sessions end': 'manage_tokens',
  'tokens create': 'manage_tokens',
  'tokens list': 'manage_tokens',
  'tokens revoke': 'manage_tokens',
  doctor: 'read',
  pause: 'operate',
  resume: 'operate',
  balances: 'read',
  'transfers list': 'read',
  'export journal': 'read',
  verify: 'read',
  'archive list': 'read',
  'archive verify': 'read',
  'archive import': 'administer',
  'archive clear': 'administer',
  'retention show': 'read',
  'retention run': 'administer',
};

export function permissionOf(path: string): CommandPermission {
  const needed = COMMAND_PERMISSIONS[path];
  if (needed === undefined) throw new Error(`the command ${path} has no permission`);
  return needed;
}
