/** The report of `verify` as JSON. */
import type { CheckResult } from '../ledger/domain/checks.ts';
import type { VerifyReport } from '../ledger/verify/verifyLedger.ts';

/** @param nextStepOf what to run about a check that failed */
export function verificationJson(
  { passed, checks, balances }: VerifyReport,
  seconds: number,
  nextStepOf: (check: CheckResult) => string | undefined,
) {
  return {
    passed,
    seconds,
    checks: checks.map((check) => ({
      name: check.name,
      meaning: check.meaning,
      checked: check.checked,
      failures: check.failures,
      offenders: check.offenders.map(({ subject, problem, event }) => ({
        subject,
        problem,
        event_number: event ?? null,
      })),
      next_step: nextStepOf(check) ?? null,
    })),
    balances: balances.map(({ account, currency, balanceMinor }) => ({
      account,
      currency,
      balance: balanceMinor,
    })),
  };
}
