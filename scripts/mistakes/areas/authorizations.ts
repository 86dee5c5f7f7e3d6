/** Reminders and the policy of authorizations. */
import type { Mistake } from '../mistake.ts';

export const AUTHORIZATIONS: readonly Mistake[] = [
  {
    guarantee: 'A threshold is reached at its instant.',
    file: 'src/authorizations/domain/reminders.ts',
    code: 'instantOf(hours) <= nowMs',
    mistaken: 'instantOf(hours) < nowMs',
    test: 'test/unit/authorizations/reminders.test.ts',
  },
  {
    guarantee: 'A policy does not act at the deadline.',
    file: 'src/authorizations/domain/reminders.ts',
    code: 'nowMs < deadlineMs;',
    mistaken: 'nowMs <= deadlineMs;',
    test: 'test/unit/authorizations/attempts.test.ts',
  },
  {
    guarantee: 'A policy acts only with the claim of the attempt.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'await claimForPolicy(parts, { hold, policy, attempt });',
    mistaken: '(await claimForPolicy(parts, { hold, policy, attempt })) ?? 0;',
    test: 'test/authorizations/policyAttempts.test.ts',
  },
  {
    guarantee: 'A policy acts only on what a retrieve has just confirmed.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'if (hold && isConfirmed && service)',
    mistaken: 'if (hold && service)',
    test: 'test/authorizations/policyAttempts.test.ts',
    named: 'without a fresh confirmation',
  },
  {
    guarantee: 'An attempt is claimed before its request is sent.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: '  const claim = await claimForPolicy(parts, { hold, policy, attempt });\n  if (claim === undefined) return;\n  const result = await service.act({ action: policy.action, paymentId, ...reasonOf(policy) });\n',
    mistaken:
      '  const result = await service.act({ action: policy.action, paymentId, ...reasonOf(policy) });\n  const claim = await claimForPolicy(parts, { hold, policy, attempt });\n  if (claim === undefined) return;\n',
    test: 'test/authorizations/policyAttempts.test.ts',
    named: 'claimed in a commit of its own',
  },
  {
    guarantee: 'A policy makes no attempt while a person acts on the hold.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'if (persons !== undefined) {',
    mistaken: 'if (persons === -1) {',
    test: 'test/authorizations/policyAndPerson.test.ts',
    named: 'while a person captures',
  },
  {
    guarantee: 'A person sends nothing while an attempt of the policy may be in progress.',
    file: 'src/actions/captureOrCancel.ts',
    code: "  if (policy) return { outcome: 'busy', policy };",
    mistaken: '',
    test: 'test/authorizations/policyAndPerson.test.ts',
    named: 'captures while the policy cancels',
  },
  {
    guarantee: 'A payment that cannot be checked delays no reminder of another.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'if (affectsEveryTransaction(thrown)) throw thrown;',
    mistaken: 'throw thrown;',
    test: 'test/authorizations/uncheckedPayments.test.ts',
    named: 'delays no reminder of another',
  },
  {
    guarantee: 'A transaction that hangs delays a run by less than a statement may take.',
    file: 'src/authorizations/checkAuthorizations.ts',
    code: 'return await check(paymentId, service, LOCK_WAIT_MS);',
    mistaken: 'return await check(paymentId, service);',
    test: 'test/authorizations/uncheckedPayments.test.ts',
    named: 'a transaction that holds',
  },
  {
    guarantee: 'Two processes cannot claim the same attempt.',
    file: 'migrations/00018_policy-attempts.sql',
    code: 'create unique index authorization_notices_policy\n',
    mistaken: 'create index authorization_notices_policy\n',
    test: 'test/authorizations/policyAttempts.test.ts',
    named: 'of a process that ended before the response',
  },
];
