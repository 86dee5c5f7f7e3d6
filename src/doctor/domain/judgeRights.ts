/** Judges the rights of the database roles, and of the user that this process logs in as. */
import { counted } from '../../platform/counted.ts';
import { failed, type Judgment, ok, warning } from './judge.ts';

export interface RightsFacts {
  readonly user: string;
  /** GRANT statements that the user lacks of each role's rights. */
  readonly missingOfUser: Readonly<Record<string, readonly string[]>>;
  /** Roles that exist, and how their rights differ from what their processes need. */
  readonly roles: readonly {
    readonly role: string;
    readonly missing: readonly string[];
    readonly surplus: readonly string[];
  }[];
}

/** A role that lacks a right fails at some time later, such as when the first alert is raised. */
export function judgeRights({ user, missingOfUser, roles }: RightsFacts): Judgment {
  const incomplete = roles.filter(({ missing }) => missing.length > 0);
  if (incomplete.length > 0) {
    return failed(
      listOf(incomplete.map(({ role, missing }) => `${role} lacks rights on ${count(missing)}`)),
      `Run \`npx tallyhook migrate\` as the owner of the tables, or run: ${statements(incomplete.flatMap(({ missing }) => missing))}`,
    );
  }
  const held = Object.keys(missingOfUser).filter((role) => missingOfUser[role]?.length === 0);
  if (held.length === 0) {
    return failed(
      `the database user ${user} has the rights of no role`,
      `Connect as a member of tallyhook_app, or run as an administrator: grant tallyhook_app to ${user}. ` +
        'See docs/guides/database-roles.md.',
    );
  }
  const excessive = roles.filter(({ surplus }) => surplus.length > 0);
  if (excessive.length > 0) {
    return warning(
      listOf(
        excessive.map(
          ({ role, surplus }) => `${role} has rights on ${count(surplus)} that it does not need`,
        ),
      ),
      `Run \`npx tallyhook migrate\` as the owner of the tables, or run: ${statements(excessive.flatMap(({ surplus }) => surplus))}`,
    );
  }
  return ok(`${user} has the rights of ${held.join(', ')}`);
}

const listOf = (problems: readonly string[]) => problems.join('\n');
const statements = (list: readonly string[]) => list.map((text) => `${text};`).join(' ');
const count = ({ length }: readonly string[]) => counted(length, 'object');
