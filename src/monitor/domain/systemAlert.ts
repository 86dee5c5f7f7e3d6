/** An alert about the system, as its rule states it. */
import type { Rule, Severity } from '../../alerts/domain/alert.ts';

export interface SystemAlert {
  readonly rule: Rule;
  /** Set where one rule states conditions of which each must notify. */
  readonly variant?: string;
  readonly severity: Severity;
  readonly sentence: string;
  readonly nextStep: string;
  readonly detail: Readonly<Record<string, unknown>>;
}
