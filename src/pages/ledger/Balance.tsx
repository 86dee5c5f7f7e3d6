/** A balance with its side, as accountants write it. */
import { Money } from '../components/values.tsx';

export function Balance({
  balanceMinor,
  currency,
}: {
  readonly balanceMinor: bigint;
  readonly currency: string;
}) {
  if (balanceMinor === 0n) return <Money amountMinor={0} currency={currency} />;
  const isDebit = balanceMinor > 0n;
  return (
    <>
      <Money amountMinor={isDebit ? balanceMinor : -balanceMinor} currency={currency} />{' '}
      {isDebit ? 'debit' : 'credit'}
    </>
  );
}
