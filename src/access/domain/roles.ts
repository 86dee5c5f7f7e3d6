/**
 * Who may do what. A role is the name of a set of permissions; every endpoint of the admin API and
 * every command names the permission that it needs.
 *
 * 1. A holder who moves money neither operates Tallyhook nor manages tokens; only `admin` does all.
 * 2. Orders and what belongs to them need `read`. `metrics` sees counts only.
 */

export const ROLES = ['metrics', 'viewer', 'shop', 'operator', 'treasurer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** What each permission allows, for the reference and for refusals. */
export const PERMISSIONS = {
  read_metrics: 'read the metrics',
  read: 'read orders, payments, events, alerts, findings, runs and the journal',
  register_orders: 'register expected amounts of orders',
  refresh: 'retrieve orders and resources from the service, which uses the rate budget',
  operate:
    'acknowledge alerts, accept findings, replay events, start reconcile runs, pause and resume',
  move_money:
    'capture and cancel authorizations, refund payments, accept and contest disputes, pay failed payouts again, cancel and fulfill payouts, and record the outcome of an interrupted attempt',
  close_periods: 'close months and reopen them',
  settle: 'import settlement reports and bank statements, and match their lines',
  manage_tokens: 'create, list and revoke tokens',
  read_audit: 'read the audit log',
  erase: 'erase personal data, which cannot be undone',
  administer:
    'start and migrate an installation, remove old data at once, and import archived data',
} as const satisfies Readonly<Record<string, string>>;
export type Permission = keyof typeof PERMISSIONS;

const GRANTS: Readonly<Record<Exclude<Role, 'admin'>, readonly Permission[]>> = {
  metrics: ['read_metrics'],
  viewer: ['read', 'read_metrics'],
  shop: ['read', 'register_orders', 'refresh'],
  operator: [
    'read',
    'read_metrics',
    'read_audit',
    'register_orders',
    'refresh',
    'operate',
    'settle',
  ],
  treasurer: [
    'read',
    'read_metrics',
    'read_audit',
    'refresh',
    'move_money',
    'close_periods',
    'settle',
  ],
};

/** Whether a holder of the role may do what needs the permission. */
export function permits(role: Role, permission: Permission): boolean {
  return role === 'admin' || GRANTS[role].includes(permission);
}

/** The roles that have a permission, in the order of `ROLES`. */
export function rolesWith(permission: Permission): readonly Role[] {
  return ROLES.filter((role) => permits(role, permission));
}
