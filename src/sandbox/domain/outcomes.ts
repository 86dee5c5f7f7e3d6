/**
 * Test cards and test amounts: they choose what the simulated processor does with a payment.
 * docs/reference/sandbox.md documents them.
 *
 * 1. The same card and amount always have the same outcome.
 * 2. A card that chooses an outcome decides; otherwise the amount does; otherwise the payment succeeds.
 * 3. Every decline code of the contract, granular or legacy, has a card and an amount.
 */
import {
  DECLINE_CODES,
  type DeclineCode,
  LEGACY_DECLINE_CODES,
  type LegacyDeclineCode,
} from '../../contract/index.ts';

export type UnifiedCode = DeclineCode | LegacyDeclineCode;

/** The processor's final decision about an attempt. */
export type FinalOutcome =
  | { readonly kind: 'approved' }
  | { readonly kind: 'declined'; readonly code: UnifiedCode };

/** `afterwards` is the outcome after the customer, the processor or a reviewer has acted. */
export type Outcome =
  | FinalOutcome
  | { readonly kind: 'customer_action'; readonly afterwards: FinalOutcome }
  | { readonly kind: 'processing'; readonly afterwards: FinalOutcome }
  | { readonly kind: 'review'; readonly afterwards: FinalOutcome };

/**
 * Eleven digits that open a test card; four digits of a decline code (0000 for none) and the check
 * digit follow.
 */
export const CARD_PREFIXES = {
  final: '40000000000',
  customer_action: '40000000003',
  processing: '40000000005',
  review: '40000000007',
} as const satisfies Record<string, string>;
export type CardFamily = keyof typeof CARD_PREFIXES;

/** The first minor unit of a range of 10,000; the rest is a decline code's digits, or 0000. */
export const AMOUNT_BASES = {
  final: 770_000,
  customer_action: 730_000,
  processing: 750_000,
  review: 740_000,
} as const satisfies Record<CardFamily, number>;

const RANGE = 10_000;

/** The test card with this outcome; an undefined `code` is approved in the end. */
export function testCard(family: CardFamily, code?: UnifiedCode): string {
  const digits = CARD_PREFIXES[family] + (code === undefined ? '0000' : code.slice(3));
  return digits + checkDigit(digits);
}

/** The test amount, in minor units of any currency, with this outcome. */
export function testAmount(family: CardFamily, code?: UnifiedCode): number {
  return AMOUNT_BASES[family] + (code === undefined ? 0 : Number(code.slice(3)));
}

/** Month and year as sent; a year may have two digits. */
export interface TestCardInput {
  readonly number: string;
  readonly expMonth: string;
  readonly expYear: string;
  readonly cvc: string;
}

/** The outcome that the card chooses; undefined where the amount decides. */
export function cardOutcome(card: TestCardInput, nowMs: number): Outcome | undefined {
  const number = card.number.replace(/[ -]/g, '');
  if (!isCardNumber(number)) return declined('UE_1003');
  if (isExpired(card, nowMs)) return declined('UE_1002');
  if (!/^\d+$/.test(card.cvc) || card.cvc.length !== cvcLength(number)) return declined('UE_4002');
  return outcomeOfTestCard(number);
}

/** The outcome that the amount chooses. */
export function amountOutcome(amountMinor: number): Outcome {
  for (const family of FAMILIES) {
    const digits = amountMinor - AMOUNT_BASES[family];
    if (digits < 0 || digits >= RANGE) continue;
    const outcome = outcomeOf(family, String(digits).padStart(4, '0'));
    if (outcome !== undefined) return outcome;
  }
  return APPROVED;
}

const APPROVED = { kind: 'approved' } as const;
const FAMILIES = Object.keys(CARD_PREFIXES) as CardFamily[];

function declined(code: UnifiedCode): Outcome {
  return { kind: 'declined', code };
}

function outcomeOfTestCard(number: string): Outcome | undefined {
  const family = FAMILIES.find((name) => number.startsWith(CARD_PREFIXES[name]));
  return family && number.length === 16 ? outcomeOf(family, number.slice(11, 15)) : undefined;
}

function outcomeOf(family: CardFamily, digits: string): Outcome | undefined {
  const afterwards: FinalOutcome | undefined =
    digits === '0000' ? APPROVED : isCode(`UE_${digits}`) ? declinedBy(`UE_${digits}`) : undefined;
  if (afterwards === undefined) return undefined;
  return family === 'final' ? afterwards : { kind: family, afterwards };
}

function declinedBy(code: string): FinalOutcome {
  return { kind: 'declined', code: code as UnifiedCode };
}

function isCode(code: string): boolean {
  return Object.hasOwn(DECLINE_CODES, code) || Object.hasOwn(LEGACY_DECLINE_CODES, code);
}

function isExpired({ expMonth, expYear }: TestCardInput, nowMs: number): boolean {
  const month = Number(expMonth);
  const year = expYear.length === 2 ? 2000 + Number(expYear) : Number(expYear);
  if (!Number.isInteger(month) || month < 1 || month > 12 || !Number.isInteger(year)) return true;
  // A card is valid until the end of its month.
  return Date.UTC(year, month, 1) <= nowMs;
}

const AMERICAN_EXPRESS = /^3[47]/;

function cvcLength(number: string): number {
  return AMERICAN_EXPRESS.test(number) ? 4 : 3;
}

const BRANDS: readonly (readonly [RegExp, string])[] = [
  [/^4/, 'Visa'],
  [/^(5[1-5]|2[2-7])/, 'Mastercard'],
  [AMERICAN_EXPRESS, 'AmericanExpress'],
  [/^(6011|65|64[4-9])/, 'Discover'],
  [/^3(0[0-5]|[68])/, 'DinersClub'],
  [/^35/, 'JCB'],
  [/^62/, 'UnionPay'],
];

/** The network of a card number; `Unknown` outside the known ranges. */
export function cardBrand(number: string): string {
  return BRANDS.find(([pattern]) => pattern.test(number))?.[1] ?? 'Unknown';
}

/** 12 to 19 digits with a valid check digit. */
export function isCardNumber(number: string): boolean {
  return /^\d{12,19}$/.test(number) && checkDigit(number.slice(0, -1)) === number.slice(-1);
}

/** The Luhn check digit of the digits before it. */
function checkDigit(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}
