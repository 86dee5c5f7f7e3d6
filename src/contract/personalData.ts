/**
 * Removes personal data from foreign text, before the text enters a table or a log that keeps it.
 *
 * Each rule matches only what is certain by its form: a check digit, an `@`, a label or a `+`. A name
 * has no such form and remains. Everything is linear in the length of the text, which a stranger may
 * have chosen.
 */
import { redactCardNumbers } from './cardNumbers.ts';

/** The longest local part of a mail address (RFC 5321). */
const MAX_LOCAL_PART = 64;

/**
 * Replaces mail addresses, IBANs, security codes, card numbers and international phone numbers.
 * @param maxLength the most characters that are searched; the rest is dropped
 * @param cardReplacement what is written instead of digits that could be a card number
 */
export function redactPersonalData(
  text: string,
  maxLength: number,
  cardReplacement?: (digits: string) => string,
): string {
  const searched = text.length > maxLength ? cut(text, maxLength) : text;
  // An IBAN and an address may contain the digits of a card number, so they are replaced first.
  const withoutAddresses = redactIbans(searched.replaceAll(MAIL_ADDRESS, '[email]'));
  const withoutCodes = withoutAddresses.replaceAll(SECURITY_CODE, '$1[digits]');
  return redactCardNumbers(withoutCodes, cardReplacement).replaceAll(PHONE_NUMBER, '[phone]');
}

/** Drops what the cut may have shortened, because no rule would recognize it. */
function cut(text: string, maxLength: number): string {
  return text
    .slice(0, maxLength)
    .replace(new RegExp(`\\S{1,${MAX_LOCAL_PART}}$`), '')
    .replace(/(?<![\d -])[ -]*\d[\d -]*$/, ' [digits]')
    .trimEnd();
}

/**
 * Also payment addresses, which have no top-level domain (`name@bank`). The lookbehind admits one start
 * a word, without which a long word would be read once for each of its characters.
 */
const MAIL_ADDRESS =
  /(?<![\p{L}\p{N}._%+'&~-])[\p{L}\p{N}._%+'&~-]+(?:@|%40)(?=[\p{N}.-]*\p{L})[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*/gu;

/** The code on a card beside its label; its digits alone could be anything. */
const SECURITY_CODE =
  /(\b(?:cvc|cvv|cvn|csc|security code|verification (?:code|value|number))[12]?"?(?:\s+is)?[\s:=#"'(]{1,5})\d{3,4}\b/gi;

/** E.164: a plus sign and 8 to 15 digits. */
const PHONE_NUMBER = /(?<![\p{L}\p{N}+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?!\d)/gu;

/** The lengths of IBANs, with their countries (ISO 13616). */
const IBAN_LENGTHS: readonly (readonly [length: number, countries: string])[] = [
  [15, 'NO'],
  [16, 'BE'],
  [18, 'DK FI FK FO GL NL SD'],
  [19, 'MK SI'],
  [20, 'AT BA EE KZ LT LU MN XK'],
  [21, 'CH HR LI LV'],
  [22, 'BG BH CR DE GB GE IE ME RS VA'],
  [23, 'AE GI IL IQ OM SO TL'],
  [24, 'AD CZ ES MD PK RO SA SE SK TN VG'],
  [25, 'LY PT ST'],
  [26, 'IS TR'],
  [27, 'BI DJ FR GR IT MC MR SM'],
  [28, 'AL AZ BY CY DO GT HN HU LB NI PL SV'],
  [29, 'BR EG PS QA UA'],
  [30, 'JO KW MU YE'],
  [31, 'MT SC'],
  [32, 'LC'],
  [33, 'RU'],
];

/** What has the form of an IBAN, in one word or in groups. */
const IBAN = new RegExp(
  `(?:${IBAN_LENGTHS.map(
    ([length, countries]) =>
      `(?:${countries.replaceAll(' ', '|')})\\d{2}(?:[ -]?[A-Z0-9]){${length - 4}}`,
  ).join('|')})(?![A-Z0-9])`,
  'gi',
);

function redactIbans(text: string): string {
  return text.replaceAll(IBAN, (found) => (hasIbanCheckDigits(found) ? '[iban]' : found));
}

/** ISO 7064, modulo 97: one text of a hundred that is no IBAN passes. */
function hasIbanCheckDigits(iban: string): boolean {
  const compact = iban.replaceAll(/[ -]/g, '').toUpperCase();
  const rearranged = `${compact.slice(4)}${compact.slice(0, 4)}`;
  const digits = rearranged.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}
