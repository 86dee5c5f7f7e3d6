import { counted } from '../platform/counted.ts';

/** A length of time in its largest useful unit. */
export function roughly(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  if (seconds < 120) return counted(Math.round(seconds), 'second');
  if (seconds < 7200) return counted(Math.round(seconds / 60), 'minute');
  if (seconds < 172_800) return counted(Math.round(seconds / 3600), 'hour');
  return counted(Math.round(seconds / 86_400), 'day');
}
