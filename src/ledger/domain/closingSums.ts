/** Sums of a closing that were added up in parts. */
import type { ClosingSum } from './closings.ts';

/** Names a sum: two of one name are added. */
export function sumKey({ currency, leg, day }: Omit<ClosingSum, 'sums'>): string {
  return `${currency}:${leg}:${day ?? 'closing'}`;
}

/** One sum of each name. */
export function addSums(parts: readonly ClosingSum[]): readonly ClosingSum[] {
  const added = new Map<string, ClosingSum>();
  for (const part of parts) {
    const known = added.get(sumKey(part));
    added.set(sumKey(part), known ? { ...part, sums: plus(known.sums, part.sums) } : part);
  }
  return [...added.values()];
}

function plus(one: ClosingSum['sums'], other: ClosingSum['sums']): ClosingSum['sums'] {
  return Object.fromEntries(
    Object.entries(one).map(([name, sum]) => [
      name,
      String(BigInt(sum) + BigInt(other[name] ?? 0)),
    ]),
  );
}
