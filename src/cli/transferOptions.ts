/** Options that select transfers of the journal. */
import { type Command, Option } from 'commander';
import { timeBasis } from '../ledger/domain/effectiveTimes.ts';
import { ACCOUNT_NAMES, type Account } from '../ledger/domain/legs.ts';
import type { TransferQuery } from '../ledger/read/transferList.ts';
import { addMoneyOptions, checkRanges, type MoneyOptions } from './listOptions.ts';

export interface TransferFilterOptions extends MoneyOptions {
  readonly account?: Account;
  readonly order?: string;
  readonly resource?: string;
  readonly recorded: boolean;
}

export function addTransferOptions(command: Command): Command {
  command
    .addOption(
      new Option('--account <account>', 'only transfers to or from it').choices(ACCOUNT_NAMES),
    )
    .option('--order <id>', 'only transfers of the parts of this order')
    .option(
      '--resource <id>',
      'only transfers of this refund, dispute or payout, or of this payment with its refunds and disputes',
    );
  return addMoneyOptions(command).option(
    '--recorded',
    'by the time at which Tallyhook recorded a transfer, not by its effective time',
    false,
  );
}

/** The filter that the options describe. */
export function transferQueryOf(options: TransferFilterOptions): TransferQuery {
  checkRanges(options);
  return {
    basis: timeBasis({ isRecorded: options.recorded }),
    account: options.account,
    orderId: options.order,
    resourceId: options.resource,
    currency: options.currency,
    minMinor: options.minAmount,
    maxMinor: options.maxAmount,
    fromMicros: options.from,
    toMicros: options.to,
  };
}
