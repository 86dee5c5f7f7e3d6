import { Command } from 'commander';
import { formatMoney } from '../../contract/money.ts';
import type { AccountBalance } from '../../ledger/domain/balances.ts';
import { instantOrNull } from '../../ledger/domain/time.ts';
import { createBalanceReader } from '../../ledger/read/balances.ts';
import { balanceJson } from '../../representation/balance.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine } from '../invocation.ts';
import { jsonOption, momentOption } from '../options.ts';
import { withElapsed } from '../progress.ts';
import { printTable } from '../table.ts';

interface BalancesOptions {
  readonly asOf?: number;
  readonly knownAt?: number;
  readonly json: boolean;
}

export function balancesCommand(): Command {
  return new Command('balances')
    .description('print the balance of every account, now or as of a time')
    .addOption(momentOption('--as-of', 'only what the service moved before this time'))
    .addOption(momentOption('--known-at', 'only what Tallyhook had recorded before this time'))
    .addOption(jsonOption())
    .addHelpText('after', NOTES)
    .action(({ asOf, knownAt, json }: BalancesOptions) =>
      withDatabase(readConfig(), async (db) => {
        const at = { effectiveMicros: asOf, knownMicros: knownAt };
        const accounts = await withElapsed('balances', () => createBalanceReader(db).read(at));
        if (json) {
          printJson({
            as_of: instantOrNull(asOf),
            known_at: instantOrNull(knownAt),
            accounts: accounts.map(balanceJson),
          });
        } else if (accounts.length === 0) printLine('No transfer was recorded.');
        else printBalances(accounts);
      }),
    );
}

const NOTES = `
Both times may be given: what the accounts had at the end of October, as it was known on November 2nd.
Times are ISO 8601, in UTC unless they name a zone. A date means its midnight.

  tallyhook balances --as-of 2026-11-01 --known-at 2026-11-02T12:00:00+01:00

Exit code: 0.`;

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
