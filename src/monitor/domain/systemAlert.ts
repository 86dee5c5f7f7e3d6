/** An alert about the system, as its rule states it. */
import type { Rule, Severity } from '../../alerts/domain/alert.ts';

export interface SystemAlert {
  readonly rule: Rule;
  readonly severity: Severity;
  readonly sentence: string;
  readonly nextStep: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
