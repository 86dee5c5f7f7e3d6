/** The JSON name of a field that the ledger names with its unit: `amountMinor` is `amount`. */

/** Names that do not follow from the ledger's. */
const OTHERS: Readonly<Record<string, string>> = {
  capturedMinor: 'amount_captured',
  authorizedMinor: 'amount_authorized',
  capturableMinor: 'amount_capturable',
  excessMinor: 'amount_excess',
  expiredMinor: 'amount_expired',
  revokedMinor: 'amount_revoked',
};

export function fieldName(name: string): string {
  return (
    OTHERS[name] ??
    name.replace(/Minor$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  );
}
