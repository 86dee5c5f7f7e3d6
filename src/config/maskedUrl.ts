/**
 * An address that messages are posted to, for people: only its server. Its path or its query may hold a token,
 * with which anybody can post.
 */
export function maskedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}
