import { type Decision, rejectUnknown } from '../domain/decision.ts';

/** For a path that names another account than the one of this sandbox. */
export function unknownMerchant(params: { readonly merchant_id: string }): Decision<never> {
  return rejectUnknown(`No merchant has the id ${params.merchant_id}`);
}
