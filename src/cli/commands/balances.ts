import { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import type { AccountBalance } from '../../ledger/domain/balances.ts';
import { formatInstant } from '../../ledger/domain/time.ts';
import { createBalanceReader } from '../../ledger/read/balances.ts';
import { balanceJson } from '../../representation/balance.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, momentOption } from '../options.ts';
import { printTable } from '../table.ts';

interface BalancesOptions {
  readonly asOf?: number;
  readonly json: boolean;
}

export function balancesCommand(): Command {
  return new Command('balances')
    .description('print the balance of every account, now or as of a time')
    .addOption(momentOption('--as-of', 'only transfers recorded before this time'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nA transfer is recorded when Tallyhook posts it, not when the service moved the money.\n\nExit code: 0.',
    )
    .action(({ asOf, json }: BalancesOptions) =>
      withDatabase(readConfig(), async (db) => {
        const accounts = await createBalanceReader(db).read(asOf);
        if (json) {
          const before = asOf === undefined ? null : formatInstant(asOf);
          printJson({ as_of: before, accounts: accounts.map(balanceJson) });
        } else if (accounts.length === 0) printLine('No transfer was recorded.');
        else printBalances(accounts);
      }),
    );
}

function printBalances(accounts: readonly AccountBalance[]): void {
  printTable(
    ['ACCOUNT', 'CLASS', 'DEBITED', 'CREDITED', 'BALANCE', 'MEANING'],
    accounts.map((row) => [
      row.account,
      row.class,
      formatMoney(row.debitedMinor, row.currency),
      formatMoney(row.creditedMinor, row.currency),
      formatMoney(row.balanceMinor, row.currency),
      row.meaning,
    ]),
  );
}
