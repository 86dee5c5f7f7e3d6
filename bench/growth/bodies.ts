/**
 * Bodies of a wanted size: with the personal and technical details that the service sends, or with
 * the fields that the ledger reads alone. Details follow from the payment, so its events agree.
 */
import { createHash } from 'node:crypto';

interface Body {
  readonly content: { readonly type: string; readonly object: Record<string, unknown> };
}

const OPTIONAL = ['description', 'payment_method_data', 'profile_id', 'customer_id', 'reason'];
const FIRST_NAMES = ['Ada', 'Bela', 'Chidi', 'Dana', 'Emil', 'Fatma', 'Goran', 'Hana'];
const LAST_NAMES = ['Abara', 'Berg', 'Costa', 'Dvorak', 'Eriksen', 'Fontana', 'Garcia', 'Haddad'];
const STREETS = ['Harbor Road', 'Mill Lane', 'Station Street', 'Old Market', 'River Walk'];
const CITIES = ['Aarhus', 'Bologna', 'Chennai', 'Dortmund', 'Eugene', 'Fukuoka', 'Ghent'];

/** The body with about `bytes` bytes. */
export function resizeBody(body: Buffer, bytes: number): Buffer {
  const parsed = JSON.parse(body.toString('utf8')) as Body;
  const object = { ...parsed.content.object };
  const toBuffer = (fields: object): Buffer =>
    Buffer.from(
      JSON.stringify({
        ...parsed,
        content: { ...parsed.content, object: { ...object, ...fields } },
      }),
    );
  if (body.length > bytes) {
    for (const field of OPTIONAL) delete object[field];
    return toBuffer({});
  }
  const details = detailsOf(String(object.payment_id ?? object.payout_id));
  const withDetails = toBuffer(details);
  const missing = bytes - withDetails.length;
  // Long fields of the service, such as the browser's, fill what is left.
  return missing <= 0 ? withDetails : toBuffer({ ...details, browser: agentOf(missing) });
}

function detailsOf(id: string): Record<string, unknown> {
  const digest = createHash('sha512').update(id).digest();
  const pick = (list: readonly string[], place: number): string =>
    list[(digest[place] ?? 0) % list.length] ?? '';
  const hex = (from: number, length: number): string =>
    digest.toString('hex').slice(from, from + length);
  const digits = (from: number, length: number): string =>
    String(digest.readUIntBE(from, 6)).padStart(15, '0').slice(-length);
  const [first, last] = [pick(FIRST_NAMES, 0), pick(LAST_NAMES, 1)];
  const address = {
    first_name: first,
    last_name: last,
    line1: `${digits(2, 3)} ${pick(STREETS, 8)}`,
    city: pick(CITIES, 9),
    zip: digits(10, 5),
    country: 'US',
  };
  return {
    customer_id: `cus_${hex(0, 20)}`,
    client_secret: `${id}_secret_${hex(20, 20)}`,
    attempt_id: `${id}_1`,
    connector: 'acquirer',
    connector_transaction_id: hex(40, 32),
    merchant_connector_id: 'mca_4TzLw7Kq2mVx9RbN',
    customer: {
      id: `cus_${hex(0, 20)}`,
      name: `${first} ${last}`,
      email: `${first}.${last}.${digits(16, 6)}@mail.example`.toLowerCase(),
      phone: digits(22, 10),
      phone_country_code: '+1',
    },
    billing: { address },
    shipping: { address },
    payment_method_id: `pm_${hex(72, 20)}`,
    network_transaction_id: digits(28, 15),
    ip_address: `198.51.100.${digest[34] ?? 0}`,
    return_url: `https://shop.example/checkout/${hex(92, 24)}/done`,
  };
}

const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0 Safari/537.36 ' +
  'accept text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 language en-US screen 1440 ';
const QUOTES = ',"browser":""'.length;

function agentOf(bytes: number): string {
  return AGENT.repeat(Math.ceil(bytes / AGENT.length)).slice(0, Math.max(0, bytes - QUOTES));
}
