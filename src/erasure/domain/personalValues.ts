/**
 * Finds the values of a person in the body of an event.
 *
 * 1. A *distinctive* value names the person wherever it is: a mail address, a phone number, a full name,
 *    a street with a number, an account. It is searched for in the whole database.
 * 2. Other values of a person, such as a city or a first name, are in many texts that are not about the
 *    person. They count only beside an id of the person's payments.
 * 3. Ids are no values: the ledger needs them, and they name nobody by themselves.
 */
import { type BodyObject, bodyObjects, FIELDS_OF_SHOP } from './bodyObjects.ts';
import { MIN_VALUE_LENGTH } from './matcher.ts';

export interface PersonalValue {
  readonly value: string;
  readonly isDistinctive: boolean;
}

/** Fields with values that name a person alone. */
const DISTINCTIVE_FIELDS = new Set([
  'account_holder_name',
  'bank_account_number',
  'card_holder_name',
  'card_number',
  'client_secret',
  'email',
  'full_name',
  'iban',
  'name_on_card',
  'phone',
  'phone_number',
  'tax_registration_id',
  'vpa_id',
]);

/** Fields with values that many people share. */
const COMMON_FIELDS = new Set([
  'city',
  'first_name',
  'ip_address',
  'last_name',
  'line2',
  'line3',
  'nick_name',
  'state',
  'zip',
]);

/** Objects with the name of a person in `name`; goods and services have names, too. '': a customer itself. */
const NAME_HOLDERS = new Set(['', 'object', 'customer', 'customer_details', 'payer', 'bank']);

type Kind = 'distinctive' | 'common' | 'none';

/** The values of the person whom an event is about. @param body the parsed body */
export function personalValues(body: unknown): readonly PersonalValue[] {
  const values = new Map<string, boolean>();
  const add = (text: string, kind: Kind) => {
    const value = text.trim();
    if (kind === 'none' || value.length < MIN_VALUE_LENGTH) return;
    values.set(value, kind === 'distinctive' || values.get(value) === true);
  };
  for (const { fields, name, isOfShop } of bodyObjects(body)) {
    for (const full of fullNames(fields)) add(full, 'distinctive');
    for (const [field, value] of Object.entries(fields)) {
      for (const text of textsOf(value)) {
        const isFree = isOfShop || FIELDS_OF_SHOP.has(field);
        add(
          text,
          kindByForm(text.trim()) ??
            (isFree ? freeKind(text) : kindByField(text.trim(), field, name)),
        );
      }
    }
  }
  return [...values].map(([value, isDistinctive]) => ({ value, isDistinctive }));
}

/** A text, or the texts of a list. */
function textsOf(value: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item) => typeof item === 'string');
}

/** A mail address or a phone number names a person in whichever field it is. */
function kindByForm(value: string): Kind | undefined {
  const isMail = /^[^\s@<>"]+@[^\s@<>"]+$/.test(value);
  return isMail || /^\+\d[\d ().-]{6,18}$/.test(value) ? 'distinctive' : undefined;
}

/** A sentence of the shop may name the person; a word is a word. */
function freeKind(text: string): Kind {
  return /\s/.test(text) && text.length >= 12 ? 'common' : 'none';
}

function kindByField(value: string, field: string, holder: string): Kind {
  switch (field) {
    case 'number':
      return holder === 'phone' && hasDigits(value, 6) ? 'distinctive' : 'none';
    case 'name':
      return NAME_HOLDERS.has(holder) ? nameKind(value) : 'none';
    case 'line1':
      return hasDigits(value, 1) && value.length >= 8 ? 'distinctive' : 'common';
  }
  if (!DISTINCTIVE_FIELDS.has(field)) return COMMON_FIELDS.has(field) ? commonKind(value) : 'none';
  return hasDigits(value, 6) || value.length >= 12 ? 'distinctive' : nameKind(value);
}

/** Two words name a person; one is a word like any other. */
function nameKind(value: string): Kind {
  return /\S\s+\S/.test(value) && value.length >= 6 ? 'distinctive' : commonKind(value);
}

/** A proper name: a word in small letters, or a short number, may be part of any text. */
function commonKind(value: string): Kind {
  return /^(?:[a-z]+|\d{1,6}|[A-Z]{2,3})$/.test(value) ? 'none' : 'common';
}

function hasDigits(value: string, atLeast: number): boolean {
  return value.replaceAll(/\D/g, '').length >= atLeast;
}

/** First and last name in the forms in which people write them. */
function fullNames({
  first_name: first,
  last_name: last,
}: BodyObject['fields']): readonly string[] {
  if (typeof first !== 'string' || typeof last !== 'string') return [];
  if (first.trim() === '' || last.trim() === '') return [];
  return [`${first.trim()} ${last.trim()}`, `${last.trim()}, ${first.trim()}`];
}
