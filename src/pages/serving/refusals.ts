/** Why a viewer may not have a page, a download or an action. */
import { type Permission, permits, rolesWith } from '../../access/domain/roles.ts';
import { denialOf } from '../../audit/recordAudit.ts';
import type { Page } from '../page.ts';
import type { At, Context } from './context.ts';
import { noPageAt } from './failures.ts';
import type { Failure } from './problem.tsx';
import { actorOf, sessionOf } from './requestSession.ts';

interface Wanted extends At {
  readonly subject: string;
  readonly context: Context;
}

/** Why the viewer has no such page or action: the role does not permit it, or the installation lacks it. */
export function absenceOf(
  { permission, isOffered }: Pick<Page, 'permission' | 'isOffered'>,
  given: Wanted,
): Failure | undefined {
  const refusal = refusalOf(permission, given);
  return refusal ?? (isOffered?.(given.context) === false ? noPageAt(given.request) : undefined);
}

export function refusalOf(permission: Permission, given: Wanted): Failure | undefined {
  const { request, response, subject, context } = given;
  const { role } = sessionOf(response).holder;
  if (permits(role, permission)) return undefined;
  const { refusals, trustedProxies } = context;
  const actor = actorOf(request, { response, trustedProxies });
  refusals.note(denialOf(actor, { subject, permission }));
  const roles = rolesWith(permission).join(', ');
  const message = `Your role is ${role}. Roles that may: ${roles}. Sign in with a token of such a role.`;
  return { outcome: 'forbidden', message };
}
