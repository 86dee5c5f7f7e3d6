/**
 * Money is an integer of minor units with its ISO 4217 currency. service-interface.md §1.4.
 *
 * An amount is a safe integer (at most 2^53 - 1): amounts in the contract are JSON integers, and
 * JSON carries no larger integer exactly. A sum may leave that range: it is a bigint then, and an
 * error where JSON has to carry it. It is never rounded.
 */

/**
 * The codes that a request may use: ISO 4217, list one, including its codes for funds, metals and
 * tests. Reading accepts any three letters, so that a change of that list hides no payment.
 */
export const CURRENCIES: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN ' +
    'BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR ' +
    'FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY ' +
    'KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU ' +
    'MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON ' +
    'RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP ' +
    'TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XAG XAU XBA XBB ' +
    'XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW ZWG'
  ).split(' '),
);

/** Currencies with a minor unit other than a hundredth (ISO 4217, table A.1). */
const EXPONENTS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
      .split(' ')
      .map((currency) => [currency, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((currency) => [currency, 3])),
  CLF: 4,
  UYW: 4,
};

/** Digits after the decimal point for `currency`; 2 for a currency that is not in the table. */
export function currencyExponent(currency: string): number {
  return EXPONENTS[currency] ?? 2;
}

/**
 * Parses an amount: a JSON integer, or a string of digits (disputes send strings). Returns
 * undefined for anything else: a fraction, a negative number or an unsafe one.
 */
export function parseAmountMinor(value: unknown): number | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) return undefined;
  const amountMinor = Number(value);
  return Number.isSafeInteger(amountMinor) ? amountMinor : undefined;
}

/**
 * Parses a currency code in upper or lower case. Returns undefined for anything but three letters.
 */
export function parseCurrency(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : undefined;
}

/**
 * Adds amounts of one currency.
 * @throws InexactSum when the sum leaves the range of safe integers
 */
export function sumMinor(amountsMinor: Iterable<number>): number {
  return toSafeInteger(sumExactly(amountsMinor));
}

/** Adds amounts of one currency, however large the sum. */
export function sumExactly(amountsMinor: Iterable<number | bigint>): bigint {
  let sum = 0n;
  for (const amountMinor of amountsMinor) sum += BigInt(amountMinor);
  return sum;
}

/** Why a sum is not given, after its name. */
export const WOULD_BE_ROUNDED =
  'exceeds the largest integer that JSON represents exactly (2^53 - 1), and a rounded amount would be wrong.';

/** A sum that JSON would round. */
export class InexactSum extends RangeError {
  constructor(sumMinor: bigint) {
    super(`A sum of ${sumMinor} minor units ${WOULD_BE_ROUNDED}`);
  }
}

/**
 * A sum as JSON carries it.
 * @throws InexactSum when the sum is outside the range of safe integers
 */
export function toSafeInteger(sumMinor: bigint): number {
  const sum = Number(sumMinor);
  if (Number.isSafeInteger(sum)) return sum;
  throw new InexactSum(sumMinor);
}

/**
 * Parses decimal text such as `54.00` into minor units. Without a currency it has two decimals.
 * Returns undefined for anything else, and for more decimals than the currency has.
 */
export function parseDecimal(
  text: string | undefined,
  currency: string | undefined,
): number | undefined {
  const match = /^(\d{1,16})(?:\.(\d{1,4}))?$/.exec(text ?? '');
  const exponent = currencyExponent(currency ?? '');
  const [, whole = '', fraction = ''] = match ?? [];
  if (!match || fraction.length > exponent) return undefined;
  return parseAmountMinor(`${whole}${fraction.padEnd(exponent, '0')}`.replace(/^0+(?=\d)/, ''));
}

/** Formats minor units for people, for example `65.40 USD`, `6540 JPY`, `6.540 KWD`. */
export function formatMoney(amountMinor: number | bigint, currency: string): string {
  return `${formatAmount(amountMinor, currency)} ${currency}`;
}

/** The amount alone, with the decimals of its currency: `65.40`, `6540`, `6.540`. */
export function formatAmount(amountMinor: number | bigint, currency: string): string {
  const exponent = currencyExponent(currency);
  const text = String(amountMinor);
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length).padStart(exponent + 1, '0');
  return exponent === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
