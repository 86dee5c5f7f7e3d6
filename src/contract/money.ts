/**
 * Money is an integer of minor units beside its ISO 4217 currency. service-interface.md §1.4.
 *
 * An amount is held as a checked safe integer (at most 2^53 - 1): JSON carries no more exactly, and
 * the contract's amounts are JSON integers. Sums that leave that range are an error, never rounded.
 */

/**
 * The codes that a request may name: ISO 4217, list one, with the codes of funds, metals and tests
 * that it has. Reading takes any three letters, so that a currency that joins or leaves the list
 * hides no payment.
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

/** Currencies whose minor unit is not a hundredth (ISO 4217, table A.1). */
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
 * Reads an amount as the wire carries it: a JSON integer, or a string of digits (disputes send
 * strings). Returns undefined for everything else: a fraction, a negative or an unsafe number.
 */
export function parseAmountMinor(value: unknown): number | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) return undefined;
  const amountMinor = Number(value);
  return Number.isSafeInteger(amountMinor) ? amountMinor : undefined;
}

/** Reads a currency code, in either case. Returns undefined for anything but three letters. */
export function parseCurrency(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z]{3}$/.test(value) ? value.toUpperCase() : undefined;
}

/**
 * Adds amounts of one currency.
 * @throws RangeError when the sum leaves the range that a JSON integer carries exactly.
 */
export function sumMinor(amountsMinor: Iterable<number>): number {
  let sum = 0;
  for (const amountMinor of amountsMinor) sum += amountMinor;
  if (!Number.isSafeInteger(sum)) {
    throw new RangeError('a sum of amounts leaves the range of exact integers (2^53 - 1)');
  }
  return sum;
}

/** Formats minor units for a person, for example `65.40 USD`, `6540 JPY`, `6.540 KWD`. */
export function formatMoney(amountMinor: number | bigint, currency: string): string {
  return `${formatAmount(amountMinor, currency)} ${currency}`;
}

/** The amount alone, with as many decimals as the currency has: `65.40`, `6540`, `6.540`. */
export function formatAmount(amountMinor: number | bigint, currency: string): string {
  const exponent = currencyExponent(currency);
  const text = String(amountMinor);
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length).padStart(exponent + 1, '0');
  return exponent === 0
    ? `${sign}${digits}`
    : `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}
