import { type Decision, rejectUnknown } from '../domain/decision.ts';

/** For a path with the id of an account that is not the sandbox's. */
export function unknownMerchant(params: { readonly merchant_id: string }): Decision<never> {
  return rejectUnknown(`No merchant has the id ${params.merchant_id}`);
}
