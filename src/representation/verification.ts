/** The report of `verify` as JSON. */
import type { CheckResult } from '../ledger/domain/checks.ts';
import type { ProofReport } from '../ledger/verify/proveLedger.ts';
import type { VerifyReport } from '../ledger/verify/verifyLedger.ts';

/** @param nextStepOf what to run about a check that failed */
export function verificationJson(
  report: VerifyReport | ProofReport,
  seconds: number,
  nextStepOf: (check: CheckResult) => string | undefined,
) {
  const { passed, checks, balances } = report;
  return {
    mode: 'mode' in report ? report.mode : 'rebuild',
    passed,
    seconds,
    bodies_from: report.bodiesFrom ?? null,
    coverage: 'proof' in report ? coverageJson(report) : null,
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

function coverageJson({ ranges, continuedFrom, proof }: ProofReport) {
  return {
    ranges_checked: ranges,
    ranges_left: proof.due,
    continued_from: isoOfMs(continuedFrom?.startedMs),
    round: { ranges: proof.ranges, checked: proof.checked },
    everything_proven_from: isoOfMs(proof.fullFromMs),
    everything_proven_at: isoOfMs(proof.fullAtMs),
  };
}

function isoOfMs(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
