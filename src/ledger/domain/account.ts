/**
 * Checks that an object of the service belongs to this installation.
 *
 * 1. An object that names another merchant account is never applied.
 * 2. The ledger covers all profiles of the account, so an object of another profile than
 *    PAYMENTS_PROFILE_ID is applied. It is reported once for each profile, because an account with
 *    several shops is not a fault.
 * 3. Some objects name neither; only another account or profile counts.
 */
import { parseId } from '../../contract/identifiers.ts';
import { isCarried, isJsonObject } from './snapshot.ts';

/** The account of this installation. */
export interface Account {
  /** Undefined where no setting names it: merchant accounts are then not compared. */
  readonly merchantId: string | undefined;
  /** Undefined: every profile of the account is expected. */
  readonly profileId: string | undefined;
}

/**
 * The merchant account that an object names, if it is another one.
 * @returns null where it names one by something that is no id
 */
export function foreignMerchantOf(
  object: unknown,
  { merchantId }: Pick<Account, 'merchantId'>,
): string | null | undefined {
  const named = isJsonObject(object) ? object.merchant_id : undefined;
  if (merchantId === undefined || !isCarried(named) || named === merchantId) return undefined;
  return parseId(named) ?? null;
}

/** The profile that an object names. */
export function profileOf(object: unknown): string | undefined {
  return isJsonObject(object) ? parseId(object.profile_id) : undefined;
}
