/** The days of retention that are in force unless settings change them. */
import { z } from 'zod';
import { RETENTION_SETTINGS, retentionOf } from '../../src/config/retentionSettings.ts';

export const DEFAULT_DAYS = retentionOf(z.object(RETENTION_SETTINGS).parse({}));
