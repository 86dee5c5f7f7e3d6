/** Columns of a resource that every reader for people and programs selects. */
import type { ResourceKind } from '../../../contract/resources/index.ts';

export interface ResourceSummary {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly reason: string | null;
  readonly reasonCode: string | null;
  readonly uncertainties: readonly string[];
}

export const RESOURCE_COLUMNS = `
  kind, id, status, stage, currency, amount_minor as "amountMinor", unified_code as "unifiedCode",
  unified_message as "unifiedMessage", error_code as "errorCode", error_message as "errorMessage",
  reason, reason_code as "reasonCode", uncertainties`;
