/** What the pages of the system show beyond the ledger. */
import type { RetentionDays } from '../../config/retentionSettings.ts';
import type { SettingInForce } from '../../config/settingsInForce.ts';
import type { Doctor } from '../../doctor/keepReport.ts';
import type { ErasurePlans } from '../../erasure/keepPlans.ts';

export interface SystemParts {
  readonly doctor: Doctor;
  readonly erasurePlans: ErasurePlans;
  readonly settings: readonly SettingInForce[];
  readonly retention: RetentionDays;
  /** Whether rows are archived before retention removes them. */
  readonly isArchiving: boolean;
}
