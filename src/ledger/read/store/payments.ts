/** Statements that read single resources for programs. */
import type { ResourceKind } from '../../../contract/resources/index.ts';
import type { Queryable } from '../../../platform/db/database.ts';

/** A resource as the ledger holds it. */
export interface ResourceDetail {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly orderKey: string | null;
  readonly status: string | null;
  readonly stage: string | null;
  readonly currency: string | null;
  readonly amountMinor: number | null;
  readonly netAmountMinor: number | null;
  readonly authorizedMinor: number;
  readonly capturedMinor: number;
  readonly captureMethod: string | null;
  readonly unifiedCode: string | null;
  readonly unifiedMessage: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly reason: string | null;
  readonly reasonCode: string | null;
  readonly uncertainties: readonly string[];
  readonly openFindings: readonly string[];
  readonly createdAt: Date | null;
  readonly deadlineAt: Date | null;
  readonly updatedAt: Date;
}

const COLUMNS = `
  kind, id, order_key as "orderKey", status, stage, currency, amount_minor as "amountMinor",
  net_amount_minor as "netAmountMinor", authorized_minor as "authorizedMinor", captured_minor as "capturedMinor",
  capture_method as "captureMethod", unified_code as "unifiedCode",
  unified_message as "unifiedMessage", error_code as "errorCode",
  error_message as "errorMessage", reason, reason_code as "reasonCode", uncertainties,
  open_findings as "openFindings", created_at as "createdAt", deadline_at as "deadlineAt",
  updated_at as "updatedAt"`;

/** One payment. */
export async function readPaymentDetail(
  db: Queryable,
  paymentId: string,
): Promise<ResourceDetail | undefined> {
  const rows = await db.query<ResourceDetail>(
    `select ${COLUMNS} from resources where kind = 'payment' and id = $1`,
    [paymentId],
  );
  return rows[0];
}

/** Refunds and disputes of a payment, oldest first. */
export function readPaymentChildren(
  db: Queryable,
  { paymentId, limit }: { readonly paymentId: string; readonly limit: number },
): Promise<readonly ResourceDetail[]> {
  return db.query<ResourceDetail>(
    `select ${COLUMNS}
       from resources
      where payment_id = $1 and kind in ('refund', 'dispute')
      order by created_at, kind, id
      limit $2`,
    [paymentId, limit],
  );
}
