/** Business profile calls. service-interface.md §4.10. */
import type { BusinessProfile } from '../contract/resources/businessProfile.ts';
import type { Calls } from './calls.ts';
import { missingRows, unreadableRows } from './paginate.ts';
import type { CallOptions } from './send.ts';

/** Every method throws PaymentServiceError. */
export interface BusinessProfileCalls {
  /** All profiles of the account, with their webhook URLs and signing secrets. */
  list: (merchantId: string, options?: CallOptions) => Promise<readonly BusinessProfile[]>;
}

export function createBusinessProfileCalls({ page }: Calls): BusinessProfileCalls {
  return {
    list: async (merchant_id, options) => {
      const operation = 'listBusinessProfiles';
      const shown = await page(operation, { params: { merchant_id } }, options);
      const { items, unreadable, hasMore, totalCount = 0 } = shown;
      if (unreadable.length > 0) throw unreadableRows(operation);
      // The route takes no offset, so the rest cannot be requested.
      if (hasMore || totalCount > items.length) throw missingRows(operation);
      return items;
    },
  };
}
