/** The command that refunds a payment. */
import { Command, Option } from 'commander';
import {
  inspectRefundable,
  type Refundable,
  type RefundParts,
  refundPaymentAs,
} from '../../actions/refundPayment.ts';
import { refundsOf } from '../../assembly/service.ts';
import { formatMoney } from '../../contract/money.ts';
import { orderIdOf } from '../../ledger/domain/orderKey.ts';
import type { Database } from '../../platform/db/database.ts';
import { OperatorError, UnavailableError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { disputedText } from '../../representation/disputeText.ts';
import { nothingToRefundText, notRefundedText } from '../../representation/notDone.ts';
import { confirm } from '../confirm.ts';
import { clockOf, noApiKey, printJson, readConfig, withDatabase } from '../context.ts';
import { endAs, printLine } from '../invocation.ts';
import { jsonOption, readMinor } from '../options.ts';
import { actorOf, byOption, reasonOption } from '../person.ts';
import { refuseUnknownId } from '../unknownId.ts';

interface RefundOptions {
  readonly amount?: number;
  readonly reason: string;
  readonly by?: string;
  readonly yes: boolean;
  readonly json: boolean;
}

export function refundPaymentCommand(): Command {
  return new Command('refund')
    .description('refund a payment, in full or in part')
    .argument('<payment-id>', 'id of the payment')
    .addOption(
      new Option(
        '--amount <minor>',
        'amount in minor units, for example 6540 for 65.40 USD (default: all that can be refunded)',
      ).argParser(readMinor),
    )
    .addOption(reasonOption('why, for the audit log and for the service'))
    .option('--yes', 'skip the confirmation prompt', false)
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nTallyhook retrieves the payment and its refunds before and after, and sends the request once. While an attempt has no result, there is no second one. The prompt names the open and lost disputes that the ledger has; they are not retrieved.\n\nExit code: 0 done, 3 there is no such payment, 4 refused or not done, 7 the outcome is unknown: the same command finds out, and sends nothing if the refund exists. For an hour, another amount is refused, unless what can be refunded has changed.',
    )
    .action((paymentId: string, options: RefundOptions) =>
      withDatabase(readConfig(), (db) => refund(db, paymentId, options)),
    );
}

async function refund(db: Database, paymentId: string, options: RefundOptions): Promise<void> {
  const { reason } = options;
  const parts = await partsOf(db);
  const { orderKey, currency, refundableMinor, disputes } = await mustInspect(parts, paymentId);
  const amountMinor = options.amount ?? refundableMinor;
  if (amountMinor > refundableMinor) {
    throw new OperatorError(
      `At most ${formatMoney(refundableMinor, currency)} of ${printable(paymentId)} can be refunded.`,
    );
  }
  const order = orderKey === null ? '' : ` (order ${orderIdOf(orderKey)})`;
  const what = `${formatMoney(amountMinor, currency)} of ${paymentId}${order}`;
  await confirm(`${warningOf(disputes)}Refund ${what}?`, options.yes);
  const input = { paymentId, expectedMinor: refundableMinor, currency, amountMinor, reason };
  const refunded = await refundPaymentAs(parts, actorOf(options.by), input);
  if (refunded.outcome !== 'done') endAs(refunded.outcome === 'unknown' ? 'unknown' : 'refused');
  if (options.json) {
    const { outcome, attempt } = refunded;
    printJson({
      payment_id: paymentId,
      outcome,
      amount: amountMinor,
      currency,
      refund_id: 'refundId' in refunded ? refunded.refundId : null,
      status: outcome === 'done' ? refunded.status : null,
      attempt,
    });
    return;
  }
  const text =
    refunded.outcome === 'done'
      ? `Done: refund ${refunded.refundId}, status ${refunded.status ?? 'unknown'}.`
      : notRefundedText(input, refunded);
  printLine(text);
}

async function partsOf(db: Database): Promise<RefundParts> {
  const service = refundsOf(readConfig(), { db, clock: await clockOf(db) });
  if (service) return { db, service };
  throw noApiKey();
}

async function mustInspect(parts: RefundParts, paymentId: string): Promise<Refundable> {
  const inspected = await inspectRefundable(parts, paymentId);
  switch (inspected.outcome) {
    case 'refundable':
      return inspected.payment;
    case 'not_retrieved':
      if (!inspected.isUnavailable) {
        await refuseUnknownId(parts.db, { kind: 'payment', id: paymentId });
      }
      throw new UnavailableError(
        `${printable(paymentId)} cannot be retrieved (${printable(inspected.reason)}). Nothing was refunded. ` +
          'Run `npx tallyhook doctor` to find the cause.',
      );
    case 'not_refundable':
      throw new OperatorError(
        `${warningOf(inspected.disputes)}${nothingToRefundText(printable(paymentId), inspected)}`,
      );
  }
}

function warningOf(disputes: Refundable['disputes']): string {
  return disputes.length === 0 ? '' : `${printable(disputedText(disputes))} `;
}
