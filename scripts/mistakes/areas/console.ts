/** Sessions, forms and rights of the console. */
import type { Mistake } from '../mistake.ts';

export const CONSOLE: readonly Mistake[] = [
  {
    guarantee: 'A session that is in use does not become idle.',
    file: 'src/access/store/sessions.ts',
    code: 'and last_seen_at > statement_timestamp() -',
    mistaken: 'and started_at > statement_timestamp() -',
    test: 'test/pages/session.test.ts',
    named: 'an idle session',
  },
  {
    guarantee: 'People of two providers with the same subject are two people.',
    file: 'src/access/store/sessions.ts',
    code: '(s.issuer = one.issuer and s.subject = one.subject)',
    mistaken: '(s.subject = one.subject)',
    test: 'test/pages/session.test.ts',
    named: 'sign out everywhere',
  },
  {
    guarantee: 'A session ends when the settings name another provider.',
    file: 'src/access/sessions.ts',
    code: 'if (role === null || issuer !== parts.issuer)',
    mistaken: 'if (role === null)',
    test: 'test/pages/provider.test.ts',
    named: 'ends when the settings name another',
  },
  {
    guarantee: 'A sign-in that this installation did not begin is not finished.',
    file: 'src/pages/session/begunSignIns.ts',
    code: 'if (!isSame(signature, signatureOf(state, content))) return undefined;',
    mistaken: "if (!isSame(signature, signature) || state === '') return undefined;",
    test: 'test/pages/provider.test.ts',
    named: 'in the cookie',
  },
  {
    guarantee: 'A form of another session changes nothing.',
    file: 'src/pages/serving/forms.ts',
    code: "sent?.get('form_token') !== session.formToken",
    mistaken: "!sent?.get('form_token')",
    test: 'test/pages/session.test.ts',
    named: 'a form',
  },
  {
    guarantee: 'A form from another subdomain changes nothing.',
    file: 'src/pages/serving/guard.ts',
    code: "return site === 'same-origin';",
    mistaken: "return site !== 'cross-site';",
    test: 'test/pages/session.test.ts',
    named: 'a form',
  },
  {
    guarantee: 'No request that another site causes carries the cookie of a session.',
    file: 'src/pages/session/cookie.ts',
    code: "name: 'tallyhook_session', sameSite: 'strict'",
    mistaken: "name: 'tallyhook_session', sameSite: 'lax'",
    test: 'test/pages/session.test.ts',
    named: 'has a cookie that scripts',
  },
  {
    guarantee: 'An operator moves no money.',
    file: 'src/access/domain/roles.ts',
    code: "    'operate',\n    'settle',",
    mistaken: "    'operate',\n    'move_money',\n    'settle',",
    test: 'test/unit/access/roles.test.ts',
  },
  {
    guarantee:
      'Whoever has several values of the claim gets the role of the first in the settings.',
    file: 'src/access/domain/claims.ts',
    code: 'return mappings.find(({ value }) => values.includes(value))?.role;',
    mistaken:
      'return values.flatMap((one) => mappings.find(({ value }) => value === one) ?? [])[0]?.role;',
    test: 'test/unit/access/claims.test.ts',
  },
];
