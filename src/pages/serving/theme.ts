/** The choice of light or dark, in a cookie, so that the first paint has it already. */
import type { Request, Response } from 'express';
import { DAY_MS } from '../../platform/time.ts';

export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

export const THEME_PATH = '/theme';

const NAME = 'tallyhook_theme';
const YEAR_MS = 365 * DAY_MS;

export function readTheme(request: Request): Theme {
  const cookies = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim());
  return THEMES.find((theme) => cookies.includes(`${NAME}=${theme}`)) ?? 'system';
}

export function setTheme(response: Response, chosen: unknown): void {
  const theme = THEMES.find((one) => one === chosen) ?? 'system';
  response.cookie(NAME, theme, { httpOnly: true, sameSite: 'strict', path: '/', maxAge: YEAR_MS });
}
