/** Identifiers that the service generates. */
import { randomBytes } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 20;

/** For example `pay_` and 20 letters and digits, as Hyperswitch generates them. */
export function randomId(prefix: string, length = ID_LENGTH): string {
  return prefix + [...randomBytes(length)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** `evt_` and 32 hexadecimal digits that begin with the time, so that ids sort by time. */
export function eventId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0').slice(-12);
  return `evt_${time}7${randomBytes(10).toString('hex').slice(1)}`;
}
