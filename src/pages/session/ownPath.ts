/** A path of this console; anything else would let a link to the sign-in lead to another site. */
export function ownPath(path: string): string {
  const url = URL.canParse(path, 'http://console') ? new URL(path, 'http://console') : undefined;
  return url?.host === 'console' && path.startsWith('/') ? `${url.pathname}${url.search}` : '/';
}
