/** The days of retention that are in force unless settings change them. */
import { z } from 'zod';
import { RETENTION_SETTINGS, retentionOf } from '../../src/config/retentionSettings.ts';

/** Retention at its full speed: it rests nine times as long as it works. */
export const noSleep = () => Promise.resolve();

export const DEFAULT_DAYS = retentionOf(z.object(RETENTION_SETTINGS).parse({}));
