/** What an action is about, as people write it. */
import type { AuditSubject } from './entry.ts';

/** Reads `payment:pay_1`. @returns undefined for anything else */
export function parseSubject(text: string): AuditSubject | undefined {
  const [, kind, id] = /^([a-z_]{1,40}):([^\0]{1,300})$/.exec(text) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}
