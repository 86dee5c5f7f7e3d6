/**
 * A path of this console; anything else would let a link to the sign-in lead to another site. Normalization
 * makes `//evil.example` of `/.//evil.example`, and a browser reads two slashes as the beginning of a host.
 */
export function ownPath(path: string): string {
  const url = URL.canParse(path, 'http://console') ? new URL(path, 'http://console') : undefined;
  const isOwn = url?.host === 'console' && path.startsWith('/') && !url.pathname.startsWith('//');
  return isOwn ? `${url.pathname}${url.search}` : '/';
}
